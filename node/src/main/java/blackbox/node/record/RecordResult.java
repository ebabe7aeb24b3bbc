package blackbox.node.record;

import blackbox.evidence.verify.Losses;
import blackbox.schemas.RunId;
import blackbox.vm.machine.TierChoice;
import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// How a recording ended.
///
/// @param tier what it was recorded as, and why
/// @param exitCode the agent's own exit code, as a shell would give it (128 + signal)
/// @param events leaves recorded
/// @param losses what is known to be lost, and whether that is all
/// @param closed whether the run was closed; otherwise it is truncated
/// @param place where the run is
/// @param workspace where the workspace was copied back to, or null
public record RecordResult(
        RunId run,
        @Nullable String name,
        TierChoice tier,
        int exitCode,
        long events,
        Losses losses,
        Instant startedAt,
        Instant endedAt,
        boolean closed,
        Place place,
        @Nullable Path workspace) {

    /// How far a run has come on its way to a table.
    public enum Place {
        TABLE,
        BROKER,
        SPOOL
    }
}
