package blackbox.replay.seek;

import java.util.NavigableSet;
import org.jspecify.annotations.Nullable;

/// Where a pass over a recording saves checkpoints, and what is left for it to do before a moment can be reached.
/// Positions are instructions, counted from the recording's first.
///
/// @param end how many instructions the recording has
record IndexPlan(long end) {
    /// How long before a moment a pass that goes up to it ends at the latest: estimates from far away are right to
    /// some tens of thousands of instructions.
    static final long MARGIN = 1_000_000;

    /// A hundred million instructions take about half a second.
    private static final long EVERY = 100_000_000;
    private static final long EVERY_MIN = 20_000_000;
    private static final int MACHINES_MIN = 16;
    private static final int MACHINES_MAX = 800;

    /// What is known of a recording so far.
    ///
    /// @param firstPlace the position of the first known frame; null if there is none yet
    /// @param saved where there are checkpoints
    record Known(@Nullable Long firstPlace, NavigableSet<Long> saved) {

        /// Whether a pass may start from the checkpoints: the frame from which the guest's clock is counted must come
        /// before all of them.
        boolean hasBegun() {
            return firstPlace != null && (saved.isEmpty() || firstPlace <= saved.first());
        }

        /// How far passes have come.
        long frontier() {
            return !hasBegun() || saved.isEmpty() ? 0 : saved.last();
        }
    }

    /// The position after `position` at which a checkpoint is due.
    long next(long position) {
        return position + Math.max(end / MACHINES_MAX, Math.clamp(end / MACHINES_MIN, EVERY_MIN, EVERY));
    }

    /// Whether a pass on the way to `goal` stops after `position` to save a checkpoint.
    boolean isDue(long position, long goal) {
        return next(position) < goal;
    }

    /// Whether a pass has something to save before the moment at `goal` is reached, or has not even begun.
    ///
    /// @param goal about where the moment is; null when it comes before the first known frame, which no pass can
    ///     reach
    boolean isLeft(Known known, @Nullable Long goal) {
        return !known.hasBegun() || goal != null && isDue(known.frontier(), goal - MARGIN);
    }
}
