package blackbox.node.egress;

import java.util.Arrays;

/// When how much of a body had passed. Keeps a bounded number of pieces: of longer bodies two neighbours become one,
/// with the later time.
final class PieceTimes {
    private static final int PIECES_MAX = 4096;

    private long[] octets = new long[16];
    private long[] atNs = new long[16];
    private int count;

    /// By then `total` octets had passed, which are no fewer than before.
    void add(long total, long timeNs) {
        if (count == PIECES_MAX) {
            count /= 2;
            for (int each = 0; each < count; each++) {
                octets[each] = octets[2 * each + 1];
                atNs[each] = atNs[2 * each + 1];
            }
        } else if (count == octets.length) {
            octets = Arrays.copyOf(octets, 2 * count);
            atNs = Arrays.copyOf(atNs, 2 * count);
        }
        octets[count] = total;
        atNs[count++] = timeNs;
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
