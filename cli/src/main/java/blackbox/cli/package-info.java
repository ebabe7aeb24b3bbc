@NullMarked
package blackbox.cli;

import org.jspecify.annotations.NullMarked;
