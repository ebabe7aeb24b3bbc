package blackbox.recorder.feed;

import blackbox.recorder.net.FlowTable.Direction;
import blackbox.schemas.net.PcapReader;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Puts the frames of a machine's two directions into one order, that of their capture times: each direction comes
/// through a pipe of its own, and an answer may be read before its question. A frame waits until the other
/// direction has shown a later one or has ended, but no longer than until the first look after [#PATIENCE]. Not
/// thread-safe; bounded by [#WAITING_MAX] frames and 4 MiB of each direction.
final class FrameOrder {

    /// How long a frame may be held back: busy machines run the two readers hundreds of milliseconds apart. What comes
    /// through the other pipe later than that counts as later.
    static final Duration PATIENCE = Duration.ofMillis(500);

    static final int WAITING_MAX = 1_024;
    private static final int WAITING_BYTES_MAX = 1 << 22;

    private final List<Lane> lanes = List.of(new Lane(Direction.OUT), new Lane(Direction.IN));

    /// A frame in its place.
    ///
    /// @param arrivedNs when it was read, nanoseconds since the epoch
    record Placed(byte[] octets, Direction direction, long arrivedNs) {}

    private record Waiting(long micros, Placed frame) {}

    private static final class Lane {
        private final Direction direction;
        private final Deque<Waiting> waiting = new ArrayDeque<>();
        private long lastMicros = Long.MIN_VALUE;
        private int bytes;

        Lane(Direction direction) {
            this.direction = direction;
        }

        void add(long micros, Placed frame) {
            lastMicros = micros;
            bytes += frame.octets().length;
            waiting.add(new Waiting(micros, frame));
        }

        Placed remove() {
            Placed frame = waiting.remove().frame();
            bytes -= frame.octets().length;
            return frame;
        }
    }

    /// Takes a frame that was read at `nowNs`.
    void add(PcapReader.Frame frame, Direction direction, long nowNs) {
        lane(direction).add(frame.micros(), new Placed(frame.octets(), direction, nowNs));
    }

    /// Nothing more comes from there.
    void end(Direction direction) {
        lane(direction).lastMicros = Long.MAX_VALUE;
    }

    /// Takes out the next frame, if it need not wait at `nowNs`; null if it must, or if there is none.
    @Nullable
    Placed next(long nowNs) {
        Lane first = first();
        return first == null || !isDue(first, nowNs) ? null : first.remove();
    }

    /// The direction with the earliest frame; null when none waits. At the same time, what the guest sent is first.
    private @Nullable Lane first() {
        Waiting out = lanes.getFirst().waiting.peek();
        Waiting in = lanes.getLast().waiting.peek();
        if (out == null) {
            return in == null ? null : lanes.getLast();
        }
        return in == null || out.micros() <= in.micros() ? lanes.getFirst() : lanes.getLast();
    }

    private boolean isDue(Lane lane, long nowNs) {
        Waiting head = lane.waiting.element();
        Lane other = lane == lanes.getFirst() ? lanes.getLast() : lanes.getFirst();
        return !other.waiting.isEmpty()
                || other.lastMicros > head.micros()
                || nowNs - head.frame().arrivedNs() >= PATIENCE.toNanos()
                || lane.waiting.size() > WAITING_MAX
                || lane.bytes > WAITING_BYTES_MAX;
    }

    private Lane lane(Direction direction) {
        return lanes.getFirst().direction == direction ? lanes.getFirst() : lanes.getLast();
    }
}
