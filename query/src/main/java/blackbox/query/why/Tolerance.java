package blackbox.query.why;

/// By how much a guest's times may be off from the host's, in nanoseconds.
///
/// @param earlyNs by how much they may be too early: a guest that counts instructions falls behind
/// @param lateNs by how much they may be too late
record Tolerance(long earlyNs, long lateNs) {

    /// Of a guest that keeps the host's pace: the two clocks are compared over a serial line, which takes
    /// up to some milliseconds on a busy host.
    static final long STEADY_NS = 5_000_000;

    /// A guest that counts instructions is corrected, often; more than this is not believed.
    private static final long DRIFT_NS_MAX = 500_000_000;

    static final Tolerance STEADY = new Tolerance(STEADY_NS, STEADY_NS);

    /// Of a guest that counts instructions.
    ///
    /// @param mostNs what 99 of 100 offsets before a correction did not exceed, whatever their sign
    /// @param worstNs the largest, so that it was never further behind
    static Tolerance ofDrift(long mostNs, long worstNs) {
        long most = Math.clamp(mostNs, 0, DRIFT_NS_MAX);
        long worst = Math.clamp(Math.abs(Math.max(worstNs, -DRIFT_NS_MAX)), most, DRIFT_NS_MAX);
        return new Tolerance(STEADY_NS + worst, STEADY_NS + most);
    }
}
