package blackbox.replay.divergence.align;

import blackbox.replay.divergence.strand.Token;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/// The agreed changes to each file of each process: where both sides have them in their records. Bounded; owned by
/// one thread.
final class AgreedChanges {

    /// How many changes are kept in all.
    private static final int CHANGES_MAX = 1 << 19;
    /// How many changes to one file are searched.
    private static final int FILE_CHANGES_MAX = 4_096;

    private final Map<Long, Places> files = new HashMap<>();
    private int kept;

    /// Indexes in the two records, alternating.
    private static final class Places {
        private long[] indexes = new long[4];
        private int count;

        void add(long recorded, long actual) {
            if (count == indexes.length) {
                indexes = Arrays.copyOf(indexes, 2 * count);
            }
            indexes[count++] = recorded;
            indexes[count++] = actual;
        }
    }

    /// Notes two events that agree and change a file.
    void add(long process, Token recorded, Token actual) {
        if (kept <= CHANGES_MAX) {
            kept++;
            files.computeIfAbsent(file(process, recorded.subject()), _ -> new Places())
                    .add(recorded.index(), actual.index());
        }
    }

    /// Whether both sides have the two events in the same place among the agreed changes to the file that they are
    /// about. False if it is not known.
    boolean isInOrder(long process, Token recorded, Token actual) {
        if (kept > CHANGES_MAX) {
            return false;
        }
        Places places = files.get(file(process, recorded.subject()));
        if (places == null) {
            return true;
        }
        if (places.count > 2 * FILE_CHANGES_MAX) {
            return false;
        }
        for (int i = 0; i < places.count; i += 2) {
            if (places.indexes[i] < recorded.index() != places.indexes[i + 1] < actual.index()) {
                return false;
            }
        }
        return true;
    }

    /// Whether there may be agreed changes to that file.
    boolean isAny(long process, long subject) {
        return kept > CHANGES_MAX || files.containsKey(file(process, subject));
    }

    private static long file(long process, long subject) {
        return process * 31 + subject;
    }
}
