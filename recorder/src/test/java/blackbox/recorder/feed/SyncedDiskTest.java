package blackbox.recorder.feed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.guest.HostClock;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Up to when the disk has everything, on the host's clock.
final class SyncedDiskTest {

    private long hostNs;

    private Instant now() {
        return Instant.ofEpochSecond(0, hostNs);
    }

    @Test
    void aClockOfTheHostsPaceIsMappedByItsOffset() {
        var clock = new HostClock(this::now);
        hostNs = 5_000;
        clock.align(1_000, hostNs);
        var synced = new SyncedDisk(clock);
        assertEquals(0, synced.syncedNs());
        hostNs = 9_000;
        synced.reached(4_000);
        assertEquals(8_000, synced.syncedNs());
        synced.reached(3_000);
        assertEquals(8_000, synced.syncedNs(), "it never goes back");
    }

    /// A guest whose clock falls behind: whatever it wrote after a sync began has a later time than that sync,
    /// on whatever offset it was mapped.
    @Test
    void noLaterWriteHasAnEarlierTime() {
        long seed = System.nanoTime();
        var random = new Random(seed);
        var clock = new HostClock(this::now, HostClock.Pace.OWN);
        long guestNs = 1_000;
        hostNs = 1_000_000;
        clock.align(guestNs, hostNs);
        var synced = new SyncedDisk(clock);
        for (int tick = 0; tick < 2_000; tick++) {
            long began = guestNs;
            long writtenNs = Long.MAX_VALUE;
            for (int step = 0; step < 5; step++) {
                int passed = 1 + random.nextInt(100);
                guestNs += passed;
                hostNs += passed + random.nextInt(50);
                writtenNs = Math.min(writtenNs, clock.toHostNs(guestNs));
                if (random.nextInt(4) == 0) {
                    clock.heard(guestNs);
                }
            }
            synced.reached(began);
            assertTrue(synced.syncedNs() <= writtenNs, "seed " + seed + ", tick " + tick);
        }
    }
}
