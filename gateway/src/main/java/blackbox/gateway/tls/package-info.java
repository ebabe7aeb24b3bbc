/// TLS as the gateway opens it: the authority of one run, whose certificates the guest sees, and the trust of the host,
/// by which other sides are verified.
///
/// May depend on `schemas`, Netty, the JDK's TLS, and Bouncy Castle for certificates. Never writes a private key
/// anywhere.
@NullMarked
package blackbox.gateway.tls;

import org.jspecify.annotations.NullMarked;
