package blackbox.replay.cassette;

import java.util.Map;
import java.util.TreeMap;

/// Puts the segments of one direction in order: repeated octets are taken once, early segments wait. Bounded:
/// when too many wait, the stream ends at that point and is marked incomplete.
final class StreamAssembler {
    /// What a sender without window scaling could have in flight, in very small segments.
    static final int WAITING_MAX = 4_096;

    private final int first;
    private final Sink sink;
    private final TreeMap<Long, Piece> waiting = new TreeMap<>();
    private long next;
    private boolean cut;

    /// Takes the octets in order: `count` of them, at `offset` in the capture.
    @FunctionalInterface
    interface Sink {
        void take(long offset, int count, long needs);
    }

    private record Piece(long offset, int count, long needs) {}

    /// @param first the sequence number of the stream's first octet
    StreamAssembler(int first, Sink sink) {
        this.first = first;
        this.sink = sink;
    }

    /// The stream position of a sequence number, near what has arrived so far.
    long place(int sequence) {
        return next + (sequence - (first + (int) next));
    }

    /// How many octets have arrived without a gap.
    long next() {
        return next;
    }

    /// Whether octets are missing permanently.
    boolean incomplete() {
        return cut || !waiting.isEmpty();
    }

    /// Takes a segment of `count` octets.
    ///
    /// @param offset of its first octet in the capture
    /// @param needs passed on with its octets
    void add(int sequence, long offset, int count, long needs) {
        long at = place(sequence);
        if (count == 0 || cut || at + count <= next) {
            return;
        }
        if (at > next) {
            hold(at, new Piece(offset, count, needs));
            return;
        }
        take(at, new Piece(offset, count, needs));
        for (Map.Entry<Long, Piece> early = waiting.firstEntry();
                early != null && early.getKey() <= next;
                early = waiting.firstEntry()) {
            waiting.remove(early.getKey());
            if (early.getKey() + early.getValue().count > next) {
                take(early.getKey(), early.getValue());
            }
        }
    }

    private void take(long at, Piece piece) {
        int known = (int) (next - at);
        sink.take(piece.offset + known, piece.count - known, piece.needs);
        next += piece.count - known;
    }

    private void hold(long at, Piece piece) {
        if (waiting.size() >= WAITING_MAX) {
            cut = true;
            waiting.clear();
            return;
        }
        waiting.merge(at, piece, (old, fresh) -> old.count >= fresh.count ? old : fresh);
    }
}
