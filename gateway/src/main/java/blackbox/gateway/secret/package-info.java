/// Secrets that a guest knows only by surrogates: what stands for what, where in a request it is exchanged, and how the
/// value is kept out of what the guest is sent.
///
/// May depend on `egress` and Netty's buffers. Values are octets that are cleared, and never text; owned by the
/// gateway's loop.
@NullMarked
package blackbox.gateway.secret;

import org.jspecify.annotations.NullMarked;
