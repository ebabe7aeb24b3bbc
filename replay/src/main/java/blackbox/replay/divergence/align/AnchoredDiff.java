package blackbox.replay.divergence.align;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Compares two windows of one strand: anchors first (tokens that occur once on both sides, rare kinds before
/// others, the longest sequence of them that keeps its order: patience), then Myers' algorithm on what lies
/// between.
///
/// Bounded: Myers gives up at [#DIFFERENCES_MAX] differences, and the whole range counts as replaced.
final class AnchoredDiff {

    static final int DIFFERENCES_MAX = 400;

    /// A range that differs, half open on both sides.
    record Hunk(int expectedFrom, int expectedTo, int actualFrom, int actualTo) {}

    private final long[] expected;
    private final long[] actual;
    private final boolean[] rare;
    private final List<Hunk> hunks = new ArrayList<>();

    private AnchoredDiff(long[] expected, long[] actual, boolean[] rare) {
        this.expected = expected;
        this.actual = actual;
        this.rare = rare;
    }

    /// The hunks in order. `rare` says which tokens of `expected` are of a rare kind.
    static List<Hunk> of(long[] expected, long[] actual, boolean[] rare) {
        var diff = new AnchoredDiff(expected, actual, rare);
        diff.compare(0, expected.length, 0, actual.length, true);
        return diff.joined();
    }

    private void compare(int from, int to, int otherFrom, int otherTo, boolean rareOnly) {
        int a = from;
        int b = otherFrom;
        int aEnd = to;
        int bEnd = otherTo;
        while (a < aEnd && b < bEnd && expected[a] == actual[b]) {
            a++;
            b++;
        }
        while (a < aEnd && b < bEnd && expected[aEnd - 1] == actual[bEnd - 1]) {
            aEnd--;
            bEnd--;
        }
        if (a == aEnd || b == bEnd) {
            add(a, aEnd, b, bEnd);
            return;
        }
        List<int[]> anchors = anchors(a, aEnd, b, bEnd, rareOnly);
        if (anchors.isEmpty()) {
            if (rareOnly) {
                compare(a, aEnd, b, bEnd, false);
            } else {
                new MyersDiff(expected, actual, DIFFERENCES_MAX).compare(a, aEnd, b, bEnd, this::add);
            }
            return;
        }
        for (int[] anchor : anchors) {
            compare(a, anchor[0], b, anchor[1], rareOnly);
            a = anchor[0] + 1;
            b = anchor[1] + 1;
        }
        compare(a, aEnd, b, bEnd, rareOnly);
    }

    private void add(int from, int to, int otherFrom, int otherTo) {
        if (from < to || otherFrom < otherTo) {
            hunks.add(new Hunk(from, to, otherFrom, otherTo));
        }
    }

    private List<Hunk> joined() {
        var joined = new ArrayList<Hunk>();
        for (Hunk hunk : hunks) {
            Hunk last = joined.isEmpty() ? null : joined.getLast();
            if (last != null && last.expectedTo == hunk.expectedFrom && last.actualTo == hunk.actualFrom) {
                joined.set(
                        joined.size() - 1,
                        new Hunk(last.expectedFrom, hunk.expectedTo, last.actualFrom, hunk.actualTo));
            } else {
                joined.add(hunk);
            }
        }
        return joined;
    }

    /// Pairs of places of tokens that occur once on each side, the longest sequence that ascends on both.
    private List<int[]> anchors(int a, int aEnd, int b, int bEnd, boolean rareOnly) {
        Map<Long, Integer> places = new HashMap<>();
        for (int i = b; i < bEnd; i++) {
            places.merge(actual[i], i, (first, second) -> -1);
        }
        Map<Long, Integer> own = new HashMap<>();
        for (int i = a; i < aEnd; i++) {
            own.merge(expected[i], i, (first, second) -> -1);
        }
        var pairs = new ArrayList<int[]>();
        for (int i = a; i < aEnd; i++) {
            int place = places.getOrDefault(expected[i], -1);
            if (place >= 0 && own.getOrDefault(expected[i], -1) >= 0 && (rare[i] || !rareOnly)) {
                pairs.add(new int[] {i, place});
            }
        }
        return ascending(pairs);
    }

    /// The longest ascending subsequence by the second number (patience sorting).
    private static List<int[]> ascending(List<int[]> pairs) {
        int[] ends = new int[pairs.size()];
        int[] before = new int[pairs.size()];
        int length = 0;
        for (int i = 0; i < pairs.size(); i++) {
            int low = 0;
            int high = length;
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (pairs.get(ends[middle])[1] < pairs.get(i)[1]) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            before[i] = low == 0 ? -1 : ends[low - 1];
            ends[low] = i;
            length = Math.max(length, low + 1);
        }
        var sequence = new int[length][];
        for (int i = length == 0 ? -1 : ends[length - 1], at = length - 1; i >= 0; i = before[i], at--) {
            sequence[at] = pairs.get(i);
        }
        return Arrays.asList(sequence);
    }
}
