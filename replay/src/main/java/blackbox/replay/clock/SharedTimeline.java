package blackbox.replay.clock;

import blackbox.replay.content.Window;
import blackbox.replay.verdict.SharedOffsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// When both sides did the same. Immutable.
public final class SharedTimeline {
    /// Two stretches must have so much of the shorter one in common, one part in so many.
    private static final long COMMON_PART = 100;

    private final List<Place> places;

    /// One deed that both sides did, in nanoseconds since 1970 on the clock of either guest.
    record Place(long recordedNs, long actualNs) {}

    SharedTimeline(List<Place> places) {
        this.places = places.stream()
                .sorted(Comparator.comparingLong(Place::recordedNs))
                .toList();
    }

    /// How far the clocks were apart; null if both did nothing that was the same.
    public @Nullable SharedOffsets offsets() {
        if (places.isEmpty()) {
            return null;
        }
        long largest = 0;
        var sizes = new long[places.size()];
        for (int i = 0; i < sizes.length; i++) {
            long offset = places.get(i).actualNs() - places.get(i).recordedNs();
            sizes[i] = Math.abs(offset);
            largest = Math.abs(offset) > Math.abs(largest) ? offset : largest;
        }
        Arrays.sort(sizes);
        return new SharedOffsets(sizes.length, share(sizes, 50), share(sizes, 99), largest);
    }

    private static long share(long[] sorted, int percent) {
        return sorted[(int) ((sorted.length * (long) percent + 99) / 100) - 1];
    }

    /// Whether what took so long up to a time of the recording may have taken so long up to a time of the other side:
    /// from when it began there, as far as that is known from what both did right before and after.
    ///
    /// @param length between which it took in the recording, in nanoseconds
    /// @param otherLength the same on the other side
    public boolean isSameStretch(long recordedNs, Window length, long actualNs, Window otherLength) {
        if (places.isEmpty() || recordedNs - length.fromNs() < places.getFirst().recordedNs()) {
            return false;
        }
        long early = actualOf(recordedNs - length.toNs());
        long late = actualOf(recordedNs - length.fromNs());
        long shortest = actualNs - Math.max(early, late);
        long longest = actualNs - Math.min(early, late);
        long common = Math.min(longest, otherLength.toNs()) - Math.max(shortest, otherLength.fromNs());
        long narrower = Math.min(length.toNs() - length.fromNs(), otherLength.toNs() - otherLength.fromNs());
        return common > narrower / COMMON_PART;
    }

    /// When the other side was as far: between two places in proportion, and outside of them at the first or the last.
    private long actualOf(long recordedNs) {
        int after = firstFrom(recordedNs);
        if (after == 0 || after == places.size()) {
            return places.get(Math.min(after, places.size() - 1)).actualNs();
        }
        Place last = places.get(after - 1);
        Place next = places.get(after);
        double part = (double) (recordedNs - last.recordedNs()) / (next.recordedNs() - last.recordedNs());
        return last.actualNs() + (long) (part * (next.actualNs() - last.actualNs()));
    }

    /// The first place at or after a time.
    private int firstFrom(long recordedNs) {
        int from = 0;
        int to = places.size();
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (places.get(middle).recordedNs() < recordedNs) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }
}
