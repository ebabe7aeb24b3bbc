package blackbox.node.record;

import blackbox.vm.machine.ClockDrift;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/// The guest's wall clock during a run, as `run.close` stores it in `clock`: a replay can begin at the same time,
/// and a reader can tell how far off the times were that the agent saw.
///
/// @param startNs what it showed right before the agent's first process was created, nanoseconds since 1970;
///     null if there was none
/// @param endNs what it showed when the agent had ended, as the guest reported it; null if the agent did not
///     end by itself
/// @param drift how far it drifted from the host's time; null in the live tier
record RunClock(
        @Nullable Long startNs,
        @Nullable Long endNs,
        @Nullable ClockDrift drift) {

    void put(ObjectNode close) {
        if (startNs == null) {
            return;
        }
        ObjectNode clock = close.putObject("clock").put("startNs", startNs).put("endNs", endNs);
        if (drift != null && drift.readings() > 0) {
            clock.put("readings", drift.readings())
                    .put("offsetMaxNs", drift.largestNs())
                    .put("offsetMedianNs", drift.medianNs())
                    .put("offsetP99Ns", drift.p99Ns())
                    .put("forwardNs", drift.forwardNs())
                    .put("heldNs", drift.heldNs());
        }
    }
}
