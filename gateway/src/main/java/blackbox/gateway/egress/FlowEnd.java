package blackbox.gateway.egress;

import org.jspecify.annotations.Nullable;

/// What became of a flow that was allowed.
///
/// @param octetsOut what the guest sent and the gateway took, without headers
/// @param octetsIn what it was sent and acknowledged
public record FlowEnd(Flow flow, @Nullable String host, long octetsOut, long octetsIn, How how) {

    /// How a flow ends.
    public enum How {
        /// Both sides said that they were done; of datagrams, none came for a while.
        FINISHED,
        /// The guest broke it off.
        RESET_BY_GUEST,
        /// The gateway did, usually because the other side had.
        RESET,
        /// The other side could not be reached.
        NOT_REACHED,
        /// The guest no longer answered.
        TIMED_OUT,
        /// Nothing moved for too long.
        IDLE,
        /// It had to make room for newer ones.
        EVICTED,
        /// The gateway was closed.
        GATEWAY_CLOSED
    }
}
