package blackbox.replay.seek;

import java.util.NavigableSet;
import org.jspecify.annotations.Nullable;

/// Where a pass over a recording saves checkpoints, and what is left for it to do. Positions are instructions,
/// counted from the recording's first.
///
/// @param end how many instructions the recording has
record IndexPlan(long end, Density density) {
    /// How long before a moment a pass that goes up to it ends at the latest: estimates from far away are right to
    /// some tens of thousands of instructions.
    static final long MARGIN = 1_000_000;

    private static final long EVERY_MIN = 20_000_000;
    private static final int MACHINES_MIN = 16;
    private static final int MACHINES_MAX = 800;

    /// How densely checkpoints are saved. A hundred million instructions take about half a second, and saving a
    /// checkpoint about half of that.
    enum Density {
        /// By a landing on its way: it costs little time, and another landing nearby then executes for seconds.
        SPARSE(2_000_000_000),
        /// By a pass over the whole recording that nobody waits for.
        DENSE(100_000_000);

        private final long every;

        Density(long every) {
            this.every = every;
        }
    }

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
    }

    private long stride() {
        return Math.max(end / MACHINES_MAX, Math.clamp(end / MACHINES_MIN, EVERY_MIN, density.every));
    }

    /// The position after `position` at which a checkpoint is due.
    long next(long position) {
        return position + stride();
    }

    /// Whether a pass on the way to `goal` stops after `position` to save a checkpoint.
    boolean isDue(long position, long goal) {
        return next(position) < goal;
    }

    /// Whether a pass must save something before the moment at `goal` is reached, or has not even begun. A moment
    /// that is little more than one interval behind a checkpoint needs none: it may not have been possible to save
    /// the one that was due, and then another pass could not, either.
    ///
    /// @param goal about where the moment is; null when it comes before the first known frame, which no pass can
    ///     reach
    boolean isLeft(Known known, @Nullable Long goal) {
        if (!known.hasBegun() || goal == null) {
            return !known.hasBegun();
        }
        Long nearest = known.saved().floor(goal - MARGIN);
        return isFar(nearest == null ? 0 : nearest, goal - MARGIN);
    }

    /// Whether there should be a checkpoint between two. One that could not be saved where it was due leaves a
    /// distance that is a little longer.
    private boolean isFar(long position, long further) {
        return further - position > stride() + stride() / 2;
    }

    /// Where a pass over the whole recording begins: up to there, checkpoints are dense already.
    long begin(NavigableSet<Long> saved) {
        long reached = 0;
        for (long each : saved) {
            if (isFar(reached, each)) {
                break;
            }
            reached = each;
        }
        return reached;
    }
}
