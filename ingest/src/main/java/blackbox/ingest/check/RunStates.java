package blackbox.ingest.check;

import blackbox.ingest.IngestException;
import blackbox.schemas.RunId;

/// How far each run was committed, asked when a run is first met. Safe to use from several threads.
@FunctionalInterface
public interface RunStates {

    /// Of an empty table.
    RunStates NONE = _ -> new Unseen();

    /// How far a run was committed.
    sealed interface Standing {}

    /// Nothing of it was.
    record Unseen() implements Standing {}

    /// So far, and more may come unless a finding stopped it.
    record Open(ChainState state) implements Standing {}

    /// All of it.
    ///
    /// @param leaves how many leaves the run has
    record Closed(long leaves) implements Standing {}

    /// @throws IngestException when it cannot be read at present
    Standing of(RunId run) throws IngestException;
}
