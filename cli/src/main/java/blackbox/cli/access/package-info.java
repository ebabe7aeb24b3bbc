/// The commands about who may ask the service, and who did.
@NullMarked
package blackbox.cli.access;

import org.jspecify.annotations.NullMarked;
