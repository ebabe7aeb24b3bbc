package blackbox.replay.divergence.align;

import blackbox.replay.divergence.strand.Token;
import blackbox.replay.divergence.text.GenerationalCache;
import blackbox.replay.divergence.text.NamesUsed;
import java.util.ArrayList;
import java.util.List;

/// Which made-up names of the two sides stand for each other, as shown by events that are equal except for such
/// names. Owned by one thread.
public final class NamePairs {

    /// How many names can stand for others in the third reading.
    public static final int PAIRS_MAX = 1 << 18;

    private static final int SHOWN_MAX = 3;

    /// Two events that created names which stand for each other, by index.
    public record NamePair(long recorded, long actual) {}

    private final int pivot;
    private final GenerationalCache actualOf = new GenerationalCache(PAIRS_MAX);
    private final GenerationalCache recordedOf = new GenerationalCache(PAIRS_MAX);
    private final GenerationalCache[] standIns = {new GenerationalCache(PAIRS_MAX), new GenerationalCache(PAIRS_MAX)};
    private final List<NamePair> shown = new ArrayList<>();
    private boolean fit = true;
    private long count;

    /// @param pivot the side whose names stand for both
    NamePairs(int pivot) {
        this.pivot = pivot;
    }

    /// Notes two events that agree except for their made-up names.
    void agree(Token recorded, Token actual) {
        NamesUsed one = recorded.names();
        NamesUsed other = actual.names();
        if (one == NamesUsed.NONE && other == NamesUsed.NONE) {
            return;
        }
        if (one.created() != 0 && other.created() != 0 && one.created() != other.created()) {
            pair(one.created(), other.created());
            if (shown.size() < SHOWN_MAX) {
                shown.add(new NamePair(recorded.index(), actual.index()));
            }
        }
        fit &= one.openCount() == other.openCount();
        for (int i = 0; fit && i < one.openCount(); i++) {
            fit = isSame(one.open(i), other.open(i));
        }
    }

    private void pair(long recorded, long actual) {
        boolean free = standIns[Aligner.RECORDED].get(recorded) == GenerationalCache.ABSENT
                && standIns[Aligner.ACTUAL].get(actual) == GenerationalCache.ABSENT;
        if (++count <= PAIRS_MAX && free) {
            long standIn = pivot == Aligner.RECORDED ? recorded : actual;
            standIns[Aligner.RECORDED].put(recorded, standIn);
            standIns[Aligner.ACTUAL].put(actual, standIn);
        }
    }

    /// Whether each stands for the other wherever they were met. A name that both sides have stands for itself.
    private boolean isSame(long recorded, long actual) {
        long known = actualOf.get(recorded);
        if (known != GenerationalCache.ABSENT || recordedOf.get(actual) != GenerationalCache.ABSENT) {
            return known == actual;
        }
        boolean shared = recorded != actual
                && (recordedOf.get(recorded) != GenerationalCache.ABSENT
                        || actualOf.get(actual) != GenerationalCache.ABSENT);
        actualOf.put(recorded, actual);
        recordedOf.put(actual, recorded);
        return !shared;
    }

    /// Whether no name was met in place of two others, or of one that means something on the other side.
    boolean isFitting() {
        return fit;
    }

    /// Whether one name on the recorded side stands for one on the other side.
    boolean standFor(long recorded, long actual) {
        long standIn = standIns[Aligner.RECORDED].get(recorded);
        return standIn != GenerationalCache.ABSENT && standIn == standIns[Aligner.ACTUAL].get(actual);
    }

    /// How many names stand for another one.
    public long count() {
        return count;
    }

    /// The first of them.
    public List<NamePair> shown() {
        return shown;
    }

    /// What that side's made-up names count as from now on.
    GenerationalCache standIns(int side) {
        return standIns[side];
    }
}
