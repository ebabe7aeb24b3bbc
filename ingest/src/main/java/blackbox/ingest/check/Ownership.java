package blackbox.ingest.check;

import blackbox.schemas.RunId;

/// Whose runs ingest has to bring into its table. Several recorders may use one topic, each with a log of
/// runs of its own.
@FunctionalInterface
public interface Ownership {

    /// Every run: whatever cannot be checked is refused and kept.
    Ownership ALL = _ -> true;

    /// Only what a trusted key certifies: what cannot be checked is somebody else's.
    Ownership TRUSTED = _ -> false;

    /// Whether a run of which nothing has been accepted is known to be one's own, so that a batch of it
    /// that does not hold is a finding, and not somebody else's.
    boolean owns(RunId run);
}
