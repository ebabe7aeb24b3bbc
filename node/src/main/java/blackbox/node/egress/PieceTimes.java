package blackbox.node.egress;

import java.util.Arrays;

/// When how much of a body had passed. Keeps a bounded number of steps, each of as many pieces and with the time of the
/// last of them.
final class PieceTimes {
    private static final int STEPS_MAX = 4096;

    private long[] octets = new long[16];
    private long[] atNs = new long[16];
    private int count;
    private long piecesOfStep = 1;
    private long piecesOfLast = 1;

    /// By then `total` octets had passed, which are no fewer than before.
    void add(long total, long timeNs) {
        if (piecesOfLast < piecesOfStep) {
            piecesOfLast++;
        } else {
            makeRoom();
            count++;
            piecesOfLast = 1;
        }
        octets[count - 1] = total;
        atNs[count - 1] = timeNs;
    }

    private void makeRoom() {
        if (count == STEPS_MAX) {
            count /= 2;
            piecesOfStep *= 2;
            for (int each = 0; each < count; each++) {
                octets[each] = octets[2 * each + 1];
                atNs[each] = atNs[2 * each + 1];
            }
        } else if (count == octets.length) {
            octets = Arrays.copyOf(octets, 2 * count);
            atNs = Arrays.copyOf(atNs, 2 * count);
        }
    }

    /// When `offset` octets had passed at the latest; `otherwise` if they had not.
    long passed(long offset, long otherwise) {
        int low = 0;
        int high = count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (octets[middle] < offset) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < count ? atNs[low] : otherwise;
    }
}
