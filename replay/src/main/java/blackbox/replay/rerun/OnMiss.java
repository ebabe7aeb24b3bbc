package blackbox.replay.rerun;

/// What becomes of a re-execution when it asks the network for something that its recording does not contain.
public enum OnMiss {
    /// It is ended: from then on it does what the recorded run never did, such as trying again for minutes.
    END,
    /// It goes on.
    GO_ON
}
