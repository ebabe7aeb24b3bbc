/// Makes the calls of an exchange from its octets.
@NullMarked
package blackbox.calls.read;

import org.jspecify.annotations.NullMarked;
