package blackbox.schemas.view;

/// Counts that a guest reports, and that it can make as large as it likes.
public final class Counts {
    private Counts() {}

    /// The sum of two of them, at most [Long#MAX_VALUE], which then is a lower bound and no count. A negative
    /// one counts nothing.
    public static long sum(long a, long b) {
        long more = Math.max(0, b);
        return a > Long.MAX_VALUE - more ? Long.MAX_VALUE : a + more;
    }

    /// Whether a [#sum] is a lower bound only.
    public static boolean isBeyondCount(long sum) {
        return sum == Long.MAX_VALUE;
    }
}
