package blackbox.replay.divergence.cause;

/// The kind of input that differed first, as far as the events show it.
public enum DivergenceClass {
    /// What was given at the start: image, workspace, a file of theirs, the command or the environment's
    /// names.
    IMAGE,
    /// The VM's snapshot.
    SNAPSHOT,
    /// The network was asked for something that the recording does not contain, or nobody answered.
    NET_MISS,
    /// The network answered differently.
    NET_DIFF,
    /// The clock.
    CLOCK,
    /// Random numbers.
    RANDOM,
    /// Concurrent threads or processes took a different order.
    SCHED,
    /// Events are known to be missing before the divergence, which may be only in the record.
    RECORDER_GAP,
    /// The machine or its QEMU, or a replay that should have been exact.
    ENGINE,
    /// No event supports any of these.
    UNEXPLAINED
}
