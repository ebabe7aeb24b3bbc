package blackbox.replay.seek;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.seek.SeekIndex.Place;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ApproachTest {
    private static final int NEAR = 4;

    /// A run's frames: between two the guest executes, and sometimes it is idle, too.
    private static List<Place> frames(Random random, int count, double idle) {
        var frames = new ArrayList<Place>();
        long position = 1_000_000;
        long ktimeNs = 7_000_000_000L;
        for (int seq = 1; seq <= count; seq++) {
            long instructions = 5_000 + random.nextLong(200_000);
            position += instructions;
            ktimeNs += 4 * instructions + (random.nextDouble() < idle ? random.nextLong(2_000_000_000L) : 0);
            frames.add(new Place(seq, position, ktimeNs - random.nextInt(3_000)));
        }
        return frames;
    }

    private static Place firstFrom(List<Place> frames, long position) {
        return frames.stream()
                .filter(frame -> frame.position() >= position)
                .findFirst()
                .orElseThrow();
    }

    /// How many jumps lead from a frame before and one behind to a few before the one that is looked for.
    private static int jumps(List<Place> frames, Place wanted) {
        Place below = frames.getFirst();
        Place above = frames.getLast();
        var approach = new Approach(wanted.ktimeNs());
        int jumps = 0;
        while (wanted.seq() - below.seq() > NEAR) {
            long from = approach.from(below, above, above.position());
            if (from <= below.position()) {
                break;
            }
            assertTrue(from < above.position(), "it never jumps past what lies behind");
            Place found = firstFrom(frames, from);
            jumps++;
            if (found.equals(above)) {
                approach.widen();
            } else if (found.seq() <= wanted.seq()) {
                below = found;
            } else {
                above = found;
            }
        }
        return jumps;
    }

    @Test
    void whereTheGuestIsNeverIdleOneJumpLeadsThere() {
        var random = new Random(3);
        List<Place> frames = frames(random, 2_000, 0);
        for (int i = 0; i < 200; i++) {
            assertEquals(1, jumps(frames, frames.get(100 + random.nextInt(1_800))));
        }
    }

    @Test
    void fewJumpsLeadPastIdleTime() {
        var random = new Random(5);
        for (double idle : new double[] {0.002, 0.02, 0.2}) {
            List<Place> frames = frames(random, 2_000, idle);
            double jumps = 0;
            for (int i = 0; i < 200; i++) {
                jumps += jumps(frames, frames.get(100 + random.nextInt(1_800)));
            }
            assertTrue(jumps / 200 < 12, jumps / 200 + " jumps where every " + 1 / idle + "th frame waits");
        }
    }

    @Test
    void withNothingKnownBehindItStaysWithinTheRun() {
        var below = new Place(1, 1_000, 0);
        var approach = new Approach(4_000_000_000L);
        long from = approach.from(below, null, 500_000);
        assertTrue(from > below.position() && from < 500_000, "from " + from);
    }
}
