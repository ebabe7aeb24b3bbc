@NullMarked
package blackbox.query;

import org.jspecify.annotations.NullMarked;
