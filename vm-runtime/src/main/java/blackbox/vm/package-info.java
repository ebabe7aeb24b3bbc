@NullMarked
package blackbox.vm;

import org.jspecify.annotations.NullMarked;
