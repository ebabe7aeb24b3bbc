package blackbox.replay.seek;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.files.ProcessLock;
import blackbox.replay.ReplayException;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.ShredMark;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class IndexLockTest {

    @TempDir
    Path folder;

    /// A landing that waits while somebody shreds has the run's recording open already.
    @Test
    void whoWaitedWhileTheRunWasShreddedAddsNothing() throws Exception {
        var data = new DataFolder(folder);
        RunId run = RunId.create(Instant.parse("2026-11-25T03:00:00Z"), new Random(1));
        Files.createDirectories(data.index(run));
        var waiting = new CountDownLatch(1);
        var landing = new FutureTask<Boolean>(() -> {
            try (IndexLock taken = IndexLock.take(data, run, waiter(waiting::countDown))) {
                return taken != null;
            }
        });
        try (IndexLock shredding = IndexLock.tryTake(data, run)) {
            assertNotNull(shredding);
            Thread.ofPlatform().start(landing);
            waiting.await();
            Files.createDirectories(data.captures(run));
            Files.writeString(
                    data.captures(run).resolve(ShredMark.NAME),
                    "blackbox/shredded/v1\nrun " + run + "\nat 2026-11-25T03:00:00Z\nreason asked for\n");
        }
        var refused = assertThrows(ExecutionException.class, landing::get);
        assertTrue(refused.getCause() instanceof ReplayException e && e.code() == ReplayException.Code.MISSING);
        assertTrue(String.valueOf(refused.getCause().getMessage()).contains("was shredded"));
        assertEquals(false, ProcessLock.isHeld(data.index(run).resolve("lock")));
    }

    /// Waits as long as it takes.
    private static IndexLock.Waiter waiter(Runnable waiting) {
        return new IndexLock.Waiter() {
            @Override
            public boolean isNeeded() {
                return true;
            }

            @Override
            public boolean isPatient() {
                waiting.run();
                return true;
            }
        };
    }
}
