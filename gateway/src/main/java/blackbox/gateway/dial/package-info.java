/// The way out: resolves a name when a connection to it is allowed, checks what it resolves to, and dials exactly that.
///
/// Knows nothing about guests.
@NullMarked
package blackbox.gateway.dial;

import org.jspecify.annotations.NullMarked;
