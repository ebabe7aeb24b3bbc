package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.ingest.kafka.BrokerCredential;
import blackbox.schemas.folder.DataFolder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Properties;
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
            Properties clients = BrokerCredential.fresh(new SecureRandom()).clientSettings();
            clients.setProperty("bootstrap.servers", "127.0.0.1:9092");
            lock.announce(clients);
            assertEquals(clients, PipelineLock.announced(data));
        }
        try (PipelineLock next = PipelineLock.tryTake(data)) {
            assertNotNull(next);
            assertNull(PipelineLock.announced(data), "the last holder's address is gone");
        }
    }

    /// Somebody else may have the file of an earlier holder open, from when it could be read.
    @Test
    void onlyTheOwnerCanReadHowTheBrokerIsReached() throws Exception {
        var data = new DataFolder(folder);
        Files.writeString(data.pipelineAccess(), "old\n");
        Files.setPosixFilePermissions(data.pipelineAccess(), PosixFilePermissions.fromString("rw-r--r--"));
        var clients = new Properties();
        clients.setProperty("sasl.jaas.config", "secret");
        try (FileChannel opened = FileChannel.open(data.pipelineAccess());
                PipelineLock lock = PipelineLock.tryTake(data)) {
            assertNotNull(lock);
            lock.announce(clients);
            assertEquals(4, opened.size());
            assertEquals(
                    "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(data.pipelineAccess())));
        }
        assertFalse(Files.exists(data.pipelineAccess()));
    }

    @Test
    void closingItTwiceTakesNothingFromTheNextHolder() throws Exception {
        var data = new DataFolder(folder);
        PipelineLock first = PipelineLock.tryTake(data);
        assertNotNull(first);
        first.close();
        try (PipelineLock second = PipelineLock.tryTake(data)) {
            assertNotNull(second);
            second.announce(new Properties());
            first.close();
            assertNotNull(PipelineLock.announced(data));
            assertNull(PipelineLock.tryTake(data));
        }
    }
}
