/// The guest's network on the host, without root: everything that the guest can reach is in this process, and
/// nothing of it leaves without a verdict.
///
/// `stack` is the network as the guest sees it, `dns` gives names addresses, `dial` goes out, `tls` and `http` look
/// into what is spoken; `egress` is what is asked and told, `packet` has the packets. May depend on `schemas`, Netty
/// and, for certificates, Bouncy Castle only; never decides by itself what is allowed, except that it refuses what
/// cannot be judged.
@NullMarked
package blackbox.gateway;

import org.jspecify.annotations.NullMarked;
