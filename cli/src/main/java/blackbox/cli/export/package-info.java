/// `blackbox export` and the forms that it writes.
@NullMarked
package blackbox.cli.export;

import org.jspecify.annotations.NullMarked;
