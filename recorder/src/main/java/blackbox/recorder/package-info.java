@NullMarked
package blackbox.recorder;

import org.jspecify.annotations.NullMarked;
