package blackbox.evidence.sides;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What one side has told and the other has not yet, in the order in which it was told.
///
/// @param <T> what one side tells of a flow
final class Waiting<T extends Waiting.Told> {

    /// How many that were taken out may be behind one that waits.
    private static final int SPARSE = 1_024;

    private final Map<Ends, Deque<T>> byEnds = new HashMap<>();
    private final Deque<T> inOrder = new ArrayDeque<>();
    private int present;

    /// Something that one side told of a flow.
    abstract static class Told {
        final Ends ends;
        final long index;
        final long atNs;
        boolean left;

        /// @param index of the event
        Told(Ends ends, long index, long atNs) {
            this.ends = ends;
            this.index = index;
            this.atNs = atNs;
        }
    }

    void add(T told) {
        byEnds.computeIfAbsent(told.ends, _ -> new ArrayDeque<>(1)).add(told);
        inOrder.add(told);
        present++;
        if (inOrder.size() > SPARSE + 2 * present) {
            inOrder.removeIf(each -> each.left);
        }
    }

    /// Takes out the oldest with these ends; null if there is none.
    @Nullable
    T take(Ends ends) {
        Deque<T> same = byEnds.get(ends);
        if (same == null) {
            return null;
        }
        T told = same.remove();
        if (same.isEmpty()) {
            byEnds.remove(ends);
        }
        told.left = true;
        present--;
        return told;
    }

    /// Those with these ends, the oldest first.
    Iterable<T> of(Ends ends) {
        return byEnds.getOrDefault(ends, new ArrayDeque<>(0));
    }

    int count(Ends ends) {
        Deque<T> same = byEnds.get(ends);
        return same == null ? 0 : same.size();
    }

    /// The newest with these ends; null if there is none.
    @Nullable
    T newest(Ends ends) {
        Deque<T> same = byEnds.get(ends);
        return same == null ? null : same.peekLast();
    }

    /// The oldest of all; null if there is none.
    @Nullable
    T oldest() {
        while (!inOrder.isEmpty() && inOrder.element().left) {
            inOrder.remove();
        }
        return inOrder.peek();
    }

    /// Takes out the oldest of all, which is the oldest with its ends, too.
    void removeOldest() {
        T told = oldest();
        if (told != null) {
            inOrder.remove();
            take(told.ends);
        }
    }

    int size() {
        return present;
    }
}
