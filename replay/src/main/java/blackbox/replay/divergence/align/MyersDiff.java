package blackbox.replay.divergence.align;

import java.util.ArrayList;
import java.util.List;

/// Myers' greedy algorithm ("An O(ND) difference algorithm and its variations", 1986), which finds a shortest edit
/// script; memory grows with the square of the number of differences, which is therefore bounded.
final class MyersDiff {

    /// Takes a range that differs.
    @FunctionalInterface
    interface Hunks {
        void add(int expectedFrom, int expectedTo, int actualFrom, int actualTo);
    }

    private final long[] expected;
    private final long[] actual;
    private final int differencesMax;

    MyersDiff(long[] expected, long[] actual, int differencesMax) {
        this.expected = expected;
        this.actual = actual;
        this.differencesMax = differencesMax;
    }

    void compare(int from, int to, int otherFrom, int otherTo, Hunks out) {
        int n = to - from;
        int m = otherTo - otherFrom;
        int max = Math.min(n + m, differencesMax);
        var furthest = new int[2 * max + 2];
        List<int[]> trace = new ArrayList<>();
        for (int d = 0; d <= max; d++) {
            for (int k = -d; k <= d; k += 2) {
                int x = k == -d || k != d && furthest[max + k - 1 + 0] < furthest[max + k + 1]
                        ? furthest[max + k + 1]
                        : furthest[max + k - 1] + 1;
                while (x < n && x - k < m && x - k >= 0 && expected[from + x] == actual[otherFrom + x - k]) {
                    x++;
                }
                furthest[max + k] = x;
                if (x >= n && x - k >= m) {
                    back(from, otherFrom, n, m, d, trace, out);
                    return;
                }
            }
            trace.add(java.util.Arrays.copyOfRange(furthest, max - d, max + d + 1));
        }
        out.add(from, to, otherFrom, otherTo);
    }

    /// Walks back from the end; `trace` has the furthest places of each step, diagonal `-d` first.
    private static void back(int from, int otherFrom, int n, int m, int steps, List<int[]> trace, Hunks out) {
        var single = new ArrayList<int[]>();
        int x = n;
        int y = m;
        for (int d = steps; d > 0; d--) {
            int[] before = trace.get(d - 1);
            int k = x - y;
            boolean down = k == -d || k != d && at(before, d, k - 1) < at(before, d, k + 1);
            int fromK = down ? k + 1 : k - 1;
            int fromX = at(before, d, fromK);
            int fromY = fromX - fromK;
            single.add(down ? new int[] {fromX, fromX, fromY, fromY + 1} : new int[] {fromX, fromX + 1, fromY, fromY});
            x = fromX;
            y = fromY;
        }
        for (int[] hunk : single.reversed()) {
            out.add(from + hunk[0], from + hunk[1], otherFrom + hunk[2], otherFrom + hunk[3]);
        }
    }

    private static int at(int[] places, int d, int k) {
        int i = k + d - 1;
        return i < 0 || i >= places.length ? -1 : places[i];
    }
}
