package blackbox.gateway.egress;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// One request that was judged, and what came of it. Told when it is over.
///
/// @param host the name; null for an address that stands for none
/// @param number counted from 0 in its connection
/// @param protocol `http/1.1` or `h2`
/// @param scheme `https` if TLS was opened for it, else `http`
/// @param target as it was forwarded
/// @param status of the answer that the guest was sent; 0 if there was none
/// @param request what the gateway forwarded of its body
/// @param response what it forwarded of the answer's body
/// @param firstOctet from the request's head to the answer's; null without an answer
/// @param whole from the request's head to its end
public record HttpExchange(
        Flow flow,
        @Nullable String host,
        long number,
        String protocol,
        String scheme,
        RequestHead head,
        String target,
        @Nullable String rule,
        int status,
        Body request,
        Body response,
        @Nullable Duration firstOctet,
        Duration whole,
        How how) {

    /// A body without what transfers it: chunks, padding, lengths.
    ///
    /// @param octets its length
    /// @param sha256 of these octets, in lower-case hexadecimal digits
    public record Body(long octets, String sha256) {}

    /// How an exchange ends.
    public enum How {
        /// With a whole answer from the other side.
        ANSWERED,
        /// The gateway refused the request.
        REFUSED,
        /// With 101; what follows on the connection is relayed.
        SWITCHED,
        /// The guest broke it off, or sent what is no HTTP.
        BROKEN_BY_GUEST,
        /// The other side could not be reached, broke it off, or sent what is no HTTP.
        BROKEN_BY_UPSTREAM,
        /// The gateway broke off the answer: a budget was spent.
        CUT,
        /// The gateway was closed.
        GATEWAY_CLOSED
    }
}
