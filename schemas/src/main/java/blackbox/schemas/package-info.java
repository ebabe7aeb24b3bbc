@NullMarked
package blackbox.schemas;

import org.jspecify.annotations.NullMarked;
