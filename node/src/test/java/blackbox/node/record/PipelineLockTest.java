package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.schemas.folder.DataFolder;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PipelineLockTest {

    @TempDir
    Path folder;

    @Test
    void thereIsOneHolderAtATimeAndItAnnouncesItsBroker() throws Exception {
        var data = new DataFolder(folder);
        assertNull(PipelineLock.announced(data));
        try (PipelineLock lock = PipelineLock.tryTake(data)) {
            assertNotNull(lock);
            assertNull(PipelineLock.tryTake(data), "asking again must neither succeed nor let go of it");
            assertNull(PipelineLock.tryTake(data));
            assertNull(PipelineLock.announced(data), "not announced yet");
            lock.announce("127.0.0.1:9092");
            assertEquals("127.0.0.1:9092", PipelineLock.announced(data));
        }
        try (PipelineLock next = PipelineLock.tryTake(data)) {
            assertNotNull(next);
            assertNull(PipelineLock.announced(data), "the last holder's address is gone");
        }
    }
}
