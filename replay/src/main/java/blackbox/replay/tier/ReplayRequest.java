package blackbox.replay.tier;

import blackbox.evidence.store.Recordings;
import blackbox.query.run.RunFacts;
import blackbox.replay.inputs.CheckedInputs;
import blackbox.replay.inputs.SealedStart;

/// The run to replay.
///
/// @param recordings the data folder
/// @param facts of the run
/// @param start what the run's first event says was started
/// @param inputs what it was started from, present and hashed again
public record ReplayRequest(Recordings recordings, RunFacts facts, SealedStart start, CheckedInputs inputs) {}
