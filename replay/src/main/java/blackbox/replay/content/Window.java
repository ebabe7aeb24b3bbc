package blackbox.replay.content;

/// A stretch of one guest's clock, both ends included.
///
/// @param fromNs nanoseconds since 1970
/// @param toNs the same
public record Window(long fromNs, long toNs) {

    /// How far outside of a window a time may lie: clocks of guest and host differ by less, and so does the time
    /// that a pipe takes.
    static final long TOLERANCE_NS = 1_000_000_000;

    public Window {
        if (fromNs > toNs) {
            throw new IllegalArgumentException("a window from " + fromNs + " to " + toNs + " ends before it begins");
        }
    }

    /// The shortest window that has both in it.
    public Window with(Window later) {
        return new Window(Math.min(fromNs, later.fromNs), Math.max(toNs, later.toNs));
    }

    /// Whether a time that was cut to its unit may be one of this window, or of the second before or after it.
    ///
    /// @param unitNs the time is any from `atNs` on and before `atNs + unitNs`
    public boolean has(long atNs, long unitNs) {
        return atNs <= lastNs() && atNs > firstNs() - unitNs;
    }

    /// The first time that is tolerated.
    long firstNs() {
        return Math.max(fromNs, Long.MIN_VALUE / 2) - TOLERANCE_NS;
    }

    /// The last time that is tolerated.
    long lastNs() {
        return Math.min(toNs, Long.MAX_VALUE / 2) + TOLERANCE_NS;
    }

    /// Whether it is so long that whatever recurs with this period is in it, so that being in it says nothing.
    boolean holdsAll(long periodNs) {
        return lastNs() / 2 - firstNs() / 2 >= periodNs / 2;
    }
}
