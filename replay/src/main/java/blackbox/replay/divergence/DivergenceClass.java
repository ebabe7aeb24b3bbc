package blackbox.replay.divergence;

/// What kind of input differed first, as far as the events show it.
public enum DivergenceClass {
    /// What was given at the start: image, workspace, a file of theirs, the command or the environment's
    /// names.
    IMAGE,
    /// The VM's snapshot.
    SNAPSHOT,
    /// The network was asked for something that the recording does not answer, or nobody answered.
    NET_MISS,
    /// The network answered otherwise.
    NET_DIFF,
    /// The clock.
    CLOCK,
    /// Random numbers.
    RANDOM,
    /// Threads or processes that run side by side did so in another order.
    SCHED,
    /// Events are known to be missing before the divergence: it may be in the record only.
    RECORDER_GAP,
    /// The machine or its QEMU, or a replay that should have been exact.
    ENGINE
}
