package blackbox.recorder.feed;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.recorder.net.FlowTable.Direction;
import blackbox.schemas.net.PcapReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FrameOrderTest {
    private static final long MS_NS = 1_000_000;

    private final FrameOrder order = new FrameOrder();
    private final List<Integer> seen = new ArrayList<>();

    @Test
    void anAnswerThatIsReadFirstComesAfterItsQuestion() {
        add(Direction.IN, 20, MS_NS);
        assertEquals(List.of(), seen);
        add(Direction.OUT, 10, 2 * MS_NS);
        assertEquals(List.of(10), seen, "another question may yet come before the answer");
        add(Direction.OUT, 30, 3 * MS_NS);
        assertEquals(List.of(10, 20), seen);
    }

    @Test
    void aFrameWaitsOnlySoLong() {
        add(Direction.IN, 20, MS_NS);
        see(500 * MS_NS);
        assertEquals(List.of(), seen);
        see(501 * MS_NS);
        assertEquals(List.of(20), seen);
    }

    @Test
    void nothingWaitsForADirectionThatHasEnded() {
        order.end(Direction.OUT);
        add(Direction.IN, 20, MS_NS);
        assertEquals(List.of(20), seen);
    }

    @Test
    void aSilentDirectionDoesNotHoldBackMoreThanTheBound() {
        for (int i = 0; i < 5 * FrameOrder.WAITING_MAX; i++) {
            add(Direction.IN, i, MS_NS);
        }
        assertEquals(4 * FrameOrder.WAITING_MAX, seen.size());
        order.end(Direction.OUT);
        order.end(Direction.IN);
        see(MS_NS);
        assertEquals(5 * FrameOrder.WAITING_MAX, seen.size());
    }

    @Test
    void howeverTheTwoPipesAreReadTheOrderIsThatOfTheTimes() {
        long seed = new Random().nextLong();
        var random = new Random(seed);
        var times = new ArrayList<Integer>();
        List<List<Integer>> pipes = List.of(new ArrayList<>(), new ArrayList<>());
        for (int at = 0; at < 500; at++) {
            times.add(at);
            pipes.get(random.nextInt(2)).add(at);
        }
        while (!pipes.get(0).isEmpty() || !pipes.get(1).isEmpty()) {
            int pipe = random.nextInt(2);
            if (!pipes.get(pipe).isEmpty()) {
                add(pipe == 0 ? Direction.OUT : Direction.IN, pipes.get(pipe).removeFirst(), MS_NS);
            }
        }
        order.end(Direction.OUT);
        order.end(Direction.IN);
        see(MS_NS);
        assertEquals(times, seen, "seed " + seed);
    }

    private void add(Direction direction, int micros, long nowNs) {
        order.add(new PcapReader.Frame(micros, 0, new byte[] {(byte) (micros >> 8), (byte) micros}), direction, nowNs);
        see(nowNs);
    }

    private void see(long nowNs) {
        for (FrameOrder.Placed frame = order.next(nowNs); frame != null; frame = order.next(nowNs)) {
            byte[] octets = frame.octets();
            seen.add((octets[0] & 0xff) << 8 | octets[1] & 0xff);
        }
    }
}
