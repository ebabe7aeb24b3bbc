package blackbox.recorder.guest;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The tracer's report when it becomes ready: the detail of a run's second event.
///
/// @param cpuSeq each CPU's sequence number; empty if it does not say, so that every number from 1 to the
///     first that arrives is declared lost
/// @param emitAddress where the guest's kernel emits frames, or null if it does not say
/// @param agentCgroup id of the control group that holds the agent's processes and nothing else, or 0 if it does not
/// say
/// @param mounts what was mounted for the agent before it ran
/// @param undrawn why programs draw random numbers that do not follow from the run's entropy, or null if they do
public record TracerReport(
        List<Long> cpuSeq,
        @Nullable Long emitAddress,
        long agentCgroup,
        AgentMounts mounts,
        @Nullable String undrawn) {
    private static final int CPUS_MAX = 4_096;
    private static final ObjectMapper JSON = new ObjectMapper();

    /// A report that says nothing.
    public static final TracerReport NONE = new TracerReport(List.of(), null, 0, AgentMounts.NONE, null);

    public TracerReport {
        cpuSeq = List.copyOf(cpuSeq);
    }

    /// Reads it; text that is not JSON counts as an empty report.
    public static TracerReport of(String detail) {
        try {
            return of(JSON.readTree(detail));
        } catch (JsonProcessingException e) {
            return NONE;
        }
    }

    /// The same, parsed already.
    public static TracerReport of(JsonNode detail) {
        var numbers = new ArrayList<Long>();
        for (JsonNode number : detail.path("cpuSeq")) {
            if (numbers.size() < CPUS_MAX) {
                numbers.add(Math.max(0, number.asLong()));
            }
        }
        JsonNode address = detail.path("emitAddress");
        boolean known = address.isIntegralNumber() && address.bigIntegerValue().signum() > 0;
        // Kernel addresses are in the upper half: as a long they are negative.
        return new TracerReport(
                numbers,
                known ? (Long) address.bigIntegerValue().longValue() : null,
                detail.path("agentCgroup").asLong(),
                AgentMounts.of(detail.path("mounts")),
                detail.path("undrawn").isTextual() ? detail.path("undrawn").asText() : null);
    }
}
