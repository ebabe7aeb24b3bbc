@NullMarked
package blackbox.cli.export;

import org.jspecify.annotations.NullMarked;
