package blackbox.replay.seek;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.exact.GuestClock;
import blackbox.replay.exact.LogExtent;
import blackbox.replay.seek.SeekIndex.Place;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ApproachTest {
    private static final int NEAR = 4;
    private static final double[] IDLE = {0, 0.002, 0.02, 0.2};

    /// A run's frames and its log: between two frames the guest executes, and sometimes it is idle, too.
    private record Run(List<Place> frames, byte[] log) {
        static Run of(Random random, double idle) throws IOException {
            var frames = new ArrayList<Place>();
            var octets = new ByteArrayOutputStream();
            var log = new DataOutputStream(octets);
            long position = 0;
            long ktimeNs = 7_000_000_000L;
            for (int seq = 1; seq <= 2_000; seq++) {
                int instructions = 5_000 + random.nextInt(200_000);
                position += 2L * instructions;
                ktimeNs += 8L * instructions;
                log.write(0);
                log.writeInt(instructions);
                if (random.nextDouble() < idle) {
                    long waitedNs = random.nextLong(2_000_000_000L);
                    log.write(29);
                    log.writeLong(ktimeNs);
                    log.write(29);
                    log.writeLong(ktimeNs + waitedNs);
                    ktimeNs += waitedNs;
                }
                log.write(0);
                log.writeInt(instructions);
                frames.add(new Place(seq, position, ktimeNs - random.nextInt(3_000)));
            }
            return new Run(frames, octets.toByteArray());
        }

        GuestClock clock() throws IOException {
            var clock = new GuestClock(2);
            assertTrue(LogExtent.read(new ByteArrayInputStream(log), clock).instructions() > 0);
            return clock;
        }

        Place firstFrom(long position) {
            return frames.stream()
                    .filter(frame -> frame.position() >= position)
                    .findFirst()
                    .orElseThrow();
        }

        /// How many jumps it takes, from between an earlier and a later frame, to shortly before the wanted one.
        int jumps(GuestClock clock, Place wanted) {
            Place below = frames.getFirst();
            Place above = frames.getLast();
            var approach = new Approach(clock, wanted.ktimeNs());
            int jumps = 0;
            while (wanted.seq() - below.seq() > NEAR) {
                long from = approach.from(below, above, above.position());
                if (from <= below.position()) {
                    break;
                }
                assertTrue(from < above.position(), "it never jumps past a known later frame");
                Place found = firstFrom(from);
                jumps++;
                if (found.seq() > wanted.seq()) {
                    approach.widen();
                    above = found;
                } else {
                    below = found;
                }
            }
            return jumps;
        }
    }

    @Test
    void oneJumpIsEnough() throws IOException {
        var random = new Random(3);
        for (double idle : IDLE) {
            Run run = Run.of(random, idle);
            for (int i = 0; i < 200; i++) {
                Place wanted = run.frames().get(100 + random.nextInt(1_800));
                assertEquals(1, run.jumps(run.clock(), wanted));
            }
        }
    }

    /// It then goes too far, and searches further and further back.
    @Test
    void aClockWithoutIdleTimesIsCompensatedFor() throws IOException {
        var random = new Random(5);
        for (double idle : IDLE) {
            Run run = Run.of(random, idle);
            for (int i = 0; i < 200; i++) {
                Place wanted = run.frames().get(100 + random.nextInt(1_800));
                int jumps = run.jumps(new GuestClock(2), wanted);
                assertTrue(jumps <= 20, jumps + " jumps");
            }
        }
    }

    @Test
    void withNoLaterFrameKnownItStaysWithinTheRun() {
        var below = new Place(1, 1_000, 0);
        var approach = new Approach(new GuestClock(2), 4_000_000_000L);
        long from = approach.from(below, null, 500_000);
        assertTrue(from > below.position() && from < 500_000, "from " + from);
    }
}
