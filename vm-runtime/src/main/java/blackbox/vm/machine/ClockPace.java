package blackbox.vm.machine;

/// How a guest's clocks, of which its boot clock is one, run compared to the host's.
public enum ClockPace {
    /// Second for second.
    FULL(10_000, 0),
    /// A tenth slower, the most that the length of a tick can do. A guest whose files are older than this keeps
    /// the full pace.
    SLOW(9_000, 0),
    /// Nearly a quarter slower, if it is said again several times a second: the kernel also takes an eighth out
    /// of each second. When it ends, that goes on to the end of the guest's second. A guest whose files are
    /// older than this is only slow.
    SLOWEST(9_000, 500);

    private final int tickUs;
    private final int aheadMs;

    ClockPace(int tickUs, int aheadMs) {
        this.tickUs = tickUs;
        this.aheadMs = aheadMs;
    }

    /// By how many microseconds they go on in a hundredth of a second.
    public int tickUs() {
        return tickUs;
    }

    /// By how many milliseconds the guest's kernel is told that its clocks are ahead.
    public int aheadMs() {
        return aheadMs;
    }
}
