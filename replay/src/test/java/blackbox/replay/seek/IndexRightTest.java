package blackbox.replay.seek;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class IndexRightTest {

    @TempDir
    Path folder;

    private final RunId run = RunId.create(Instant.parse("2026-11-25T03:00:00Z"), new Random(1));
    private final ArrayList<String> said = new ArrayList<>();
    private long nowNs;

    private IndexRight take(IndexRight.Need need, long frontier) throws Exception {
        var waiting = new IndexRight.Waiting(need, () -> frontier, said::add, () -> nowNs += 61_000_000_000L);
        return IndexRight.take(new DataFolder(folder), run, waiting);
    }

    @Test
    void whoNeedsNothingWaitsForNobody() throws Exception {
        try (IndexLock other = IndexLock.tryTake(new DataFolder(folder), run);
                IndexRight right = take(() -> false, 0)) {
            assertNotNull(other);
            assertFalse(right.isNeeded());
            assertNull(right.lock());
        }
        assertTrue(said.isEmpty());
    }

    @Test
    void theWaitEndsWhenTheHolderHasDoneWhatIsNeeded() throws Exception {
        var asked = new AtomicInteger();
        try (IndexLock other = IndexLock.tryTake(new DataFolder(folder), run);
                IndexRight right = take(() -> asked.incrementAndGet() < 2, 0)) {
            assertNotNull(other);
            assertFalse(right.isNeeded());
            assertNull(right.lock());
        }
        assertEquals(1, said.size(), said::toString);
    }

    /// It was done between two looks: the right that has just become free is not kept.
    @Test
    void whatWasDoneMeanwhileIsNotDoneAgain() throws Exception {
        var asked = new AtomicInteger();
        try (IndexRight right = take(() -> asked.incrementAndGet() < 2, 0)) {
            assertFalse(right.isNeeded());
            assertNull(right.lock());
            try (IndexLock free = IndexLock.tryTake(new DataFolder(folder), run)) {
                assertNotNull(free);
            }
        }
    }

    @Test
    void aHolderThatDoesNotGetOnIsNotWaitedFor() throws Exception {
        try (IndexLock other = IndexLock.tryTake(new DataFolder(folder), run);
                IndexRight right = take(() -> true, 7)) {
            assertNotNull(other);
            assertTrue(right.isNeeded());
            assertNull(right.lock());
        }
        assertEquals(2, said.size(), said::toString);
        assertTrue(nowNs >= Duration.ofMinutes(2).toNanos());
    }
}
