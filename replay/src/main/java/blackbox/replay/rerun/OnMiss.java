package blackbox.replay.rerun;

/// What happens to a re-execution when it asks the network for something that its recording does not contain.
public enum OnMiss {
    /// It is ended: from then on it would do what the recorded run never did, such as retrying for minutes.
    END,
    /// It continues.
    GO_ON
}
