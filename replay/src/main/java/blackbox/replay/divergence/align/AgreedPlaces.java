package blackbox.replay.divergence.align;

import blackbox.replay.divergence.strand.Token;
import java.util.TreeMap;

/// Where events on which both sides agree are in either record: programs that began or ended, and of the others some.
/// Owned by one thread.
final class AgreedPlaces {
    private static final int KEPT_MAX = 1 << 16;
    private static final long EVERY = 64;

    /// Indexes of the other side, and the recorded ones.
    private final TreeMap<Long, Long> places = new TreeMap<>();

    void agree(Token recorded, Token actual) {
        boolean telling = actual.sort() == Token.Sort.TURNING_POINT || actual.sort() == Token.Sort.PROCESS_END;
        if ((telling || actual.index() % EVERY == 0) && places.size() < KEPT_MAX) {
            places.put(actual.index(), recorded.index());
        }
    }

    /// Right after the last agreed event before that one; 0 if there is none.
    long of(long actualIndex) {
        var before = places.lowerEntry(actualIndex);
        return before == null ? 0 : before.getValue() + 1;
    }
}
