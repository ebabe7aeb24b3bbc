package blackbox.vm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderLockTest {

    @TempDir
    Path folder;

    @Test
    void whoHasToWaitForTheLockSaysSoAndThenGetsIt() throws Exception {
        var said = new CopyOnWriteArrayList<String>();
        var waits = new CompletableFuture<String>();
        var second = new CompletableFuture<FolderLock>();
        try (FolderLock _ = FolderLock.take(folder, said::add)) {
            Thread.ofVirtual().start(() -> {
                try {
                    second.complete(FolderLock.take(folder, waits::complete));
                } catch (VmException e) {
                    second.completeExceptionally(e);
                }
            });
            assertTrue(waits.get(30, TimeUnit.SECONDS).contains(folder.toString()));
            assertEquals(false, second.isDone());
        }
        second.get(30, TimeUnit.SECONDS).close();
        assertTrue(said.isEmpty(), said::toString);
    }
}
