package blackbox.ingest.check;

import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import org.jspecify.annotations.Nullable;

/// What the check says about one record of the topic.
public sealed interface CheckResult {

    /// The batch is the run's next and holds; the run's state is `after` once its rows are committed.
    ///
    /// @param closes whether the run is complete with it
    record Accepted(SealedBatch batch, ChainState after, boolean closes) implements CheckResult {}

    /// The batch was ingested before: publishers send again what they are not sure about.
    record Known(SealedBatch batch) implements CheckResult {}

    /// The batch is not believed.
    ///
    /// @param run whose it claims to be, or null
    /// @param sequence its number as it claims, or -1
    /// @param after the run's new state where it stops the run, else null
    record Refused(
            byte[] octets,
            @Nullable RunId run,
            long sequence,
            Reason reason,
            String what,
            @Nullable ChainState after) implements CheckResult {}
}
