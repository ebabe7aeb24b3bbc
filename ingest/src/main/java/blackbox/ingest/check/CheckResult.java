package blackbox.ingest.check;

import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import org.jspecify.annotations.Nullable;

/// The result of checking one record of the topic.
public sealed interface CheckResult {

    /// The batch is the run's next and holds; the run's state is `after` once its rows are committed.
    ///
    /// @param closes whether the run is complete with it
    record Accepted(SealedBatch batch, ChainState after, boolean closes) implements CheckResult {}

    /// The batch was ingested before: publishers resend whatever may not have arrived.
    record Known(SealedBatch batch) implements CheckResult {}

    /// The batch belongs to a run of another log of runs, which is for others to ingest.
    record Foreign(SealedBatch batch) implements CheckResult {}

    /// The batch is refused.
    ///
    /// @param run the run to which it claims to belong, or null
    /// @param sequence the number that it claims, or -1
    /// @param after the run's new state if it stops the run, otherwise null
    record Refused(
            byte[] octets,
            @Nullable RunId run,
            long sequence,
            Reason reason,
            String what,
            @Nullable ChainState after) implements CheckResult {}
}
