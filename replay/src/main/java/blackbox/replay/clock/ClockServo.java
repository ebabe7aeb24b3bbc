package blackbox.replay.clock;

import blackbox.vm.machine.ClockPace;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// Decides how a guest's clock is led towards the recorded one: set forward where it is behind, slowed down
/// where it is ahead, never set back. Offsets are those of the events that were seen since the last correction.
///
/// Slowing down does little. On a machine whose speed changes, a clock that is set forward whenever the replay
/// is faster for a while, and cannot be set back when it is slower, would get further and further ahead. So a
/// clock that was ahead may be as far behind before it is set forward, half as far each [#HALVED_NS] later.
/// Owned by one thread.
final class ClockServo {
    /// Behind by less than this is left as it is.
    static final long FORWARD_NS_MIN = 3_000_000;
    /// The largest step at once: what is written between a step and its answer is dated wrongly by no more.
    static final long FORWARD_NS_MAX = 200_000_000;
    /// Ahead by this, the guest's clocks are slowed down until they are not ahead any more.
    static final long AHEAD_NS_MIN = 2_000_000;
    /// Ahead by this, they are slowed down as much as they can be, until they are ahead by half of it: that
    /// goes on for up to a second after it ends.
    static final long FAR_AHEAD_NS_MIN = 300_000_000;

    /// The time in which what a clock was ahead counts half.
    static final long HALVED_NS = 4_000_000_000L;

    private static final long RECENT_NS = 10_000_000;
    private static final int KEPT = 256;

    private final long[] atNs = new long[KEPT];
    private final long[] offsetNs = new long[KEPT];
    private long seen;
    private long from = Long.MIN_VALUE;
    private ClockPace pace = ClockPace.FULL;
    private long aheadNs;
    private long aheadAtNs;
    private long latestNs;

    /// @param forwardNs by how much the clock is to be set forward, 0 for not at all
    record Correction(long forwardNs, ClockPace pace) {}

    /// An event that both sides have.
    ///
    /// @param at what the guest's clock showed, nanoseconds since 1970
    /// @param offset by how much that was later than the recorded time
    void see(long at, long offset) {
        if (at >= from) {
            int place = (int) (seen++ % KEPT);
            atNs[place] = at;
            offsetNs[place] = offset;
        }
    }

    /// What to do; null for nothing.
    @Nullable
    Correction correction() {
        if (seen == 0) {
            return null;
        }
        long[] recent = recent();
        long offset = recent[recent.length / 2];
        ClockPace wanted = pace(offset);
        long behind = -offset - ahead(offset);
        long forward = behind >= FORWARD_NS_MIN ? Math.min(behind, FORWARD_NS_MAX) : 0;
        return forward == 0 && wanted == pace ? null : new Correction(forward, wanted);
    }

    private ClockPace pace(long offset) {
        if (offset >= (pace == ClockPace.SLOWEST ? FAR_AHEAD_NS_MIN / 2 : FAR_AHEAD_NS_MIN)) {
            return ClockPace.SLOWEST;
        }
        if (offset >= AHEAD_NS_MIN || offset > 0 && pace != ClockPace.FULL) {
            return ClockPace.SLOW;
        }
        return ClockPace.FULL;
    }

    /// By how much the clock was ahead lately.
    private long ahead(long offset) {
        long left = (long) (aheadNs * Math.pow(2, (double) (aheadAtNs - latestNs) / HALVED_NS));
        aheadNs = Math.max(left, offset);
        aheadAtNs = latestNs;
        return aheadNs;
    }

    /// A correction was made, after which the guest's clock showed `at`: what was seen before does not count.
    void corrected(long at, ClockPace now) {
        pace = now;
        from = at;
        seen = 0;
    }

    /// To which pace the guest is to be asked to keep: as slow as can be only as long as its events say that it
    /// is far ahead.
    ClockPace kept() {
        return seen == 0 && pace == ClockPace.SLOWEST ? ClockPace.SLOW : pace;
    }

    /// At which pace the clocks are.
    ClockPace pace() {
        return pace;
    }

    /// The offsets of the latest events, in ascending order.
    private long[] recent() {
        int count = (int) Math.min(seen, KEPT);
        latestNs = Arrays.stream(atNs, 0, count).max().orElseThrow();
        var recent = new long[count];
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (atNs[i] >= latestNs - RECENT_NS) {
                recent[kept++] = offsetNs[i];
            }
        }
        Arrays.sort(recent, 0, kept);
        return Arrays.copyOf(recent, kept);
    }
}
