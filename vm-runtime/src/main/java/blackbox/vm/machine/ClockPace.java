package blackbox.vm.machine;

/// How a guest's clocks, of which its boot clock is one, run compared to the host's.
public enum ClockPace {
    /// Second for second.
    FULL(10_000),
    /// A tenth slower, the most that adjtimex(2) can do. A guest whose files are older than this keeps the full pace.
    SLOW(9_000);

    private final int tickUs;

    ClockPace(int tickUs) {
        this.tickUs = tickUs;
    }

    /// By how many microseconds they go on in a hundredth of a second.
    public int tickUs() {
        return tickUs;
    }
}
