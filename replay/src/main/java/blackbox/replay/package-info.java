@NullMarked
package blackbox.replay;

import org.jspecify.annotations.NullMarked;
