package blackbox.recorder.spool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.sign.Ed25519Key;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.seal.RunSealer;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.batch.SpoolSegment;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpoolTest {

    private static final RunId RUN = RunId.create(Instant.EPOCH, new Random(2));
    private static final long TIMEOUT_NS = Duration.ofSeconds(20).toNanos();

    @TempDir
    Path folder;

    private final Ed25519Key key = Ed25519Key.create("blackbox/recorder", new SecureRandom());

    /// A broker in memory that keeps the contract: it acknowledges each batch once, after it has it.
    private static final class Broker implements BatchPublisher {
        final List<SealedBatch> batches = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void publish(SealedBatch batch, Runnable acknowledged) {
            batches.add(batch);
            acknowledged.run();
        }

        @Override
        public void close() {}
    }

    private void seal(Spool spool, int batches) throws RecorderException {
        var sealer = new RunSealer(RUN, key, spool, InstantSource.system());
        for (int i = 0; i < batches; i++) {
            sealer.append(new Event.VmLifecycle(EventHeader.host(i), "STOP", "x".repeat(200)));
            sealer.seal();
        }
    }

    private Path onlySegment() throws IOException {
        try (var files = Files.list(folder.resolve("spool").resolve(RUN.value()))) {
            return files.findFirst().orElseThrow();
        }
    }

    @Test
    void thePumpCarriesEverythingInOrderAndTheSpoolEmpties() throws Exception {
        var broker = new Broker();
        Spool spool = Spool.create(folder.resolve("spool"), RUN);
        try (var pump = new SpoolPump(spool, broker, "test")) {
            seal(spool, 200);
            spool.close();
            assertTrue(spool.awaitEmpty(TIMEOUT_NS));
            assertEquals(null, pump.failure());
        }
        for (int i = 0; i < 200; i++) {
            assertEquals(i, broker.batches.get(i).sequence());
        }
        assertFalse(Files.exists(folder.resolve("spool").resolve(RUN.value())));
    }

    /// An interrupted run's: the broker has it, the table may not.
    @Test
    void whatIsRetainedStaysThoughTheBrokerHasIt() throws Exception {
        Spool spool = Spool.create(folder.resolve("spool"), RUN);
        seal(spool, 3);
        spool.retain();
        spool.close();
        for (int i = 0; i < 3; i++) {
            spool.acknowledge(i);
        }
        assertTrue(spool.awaitEmpty(0));
        assertTrue(Files.exists(folder.resolve("spool").resolve(RUN.value())));
        spool.release();
        assertFalse(Files.exists(folder.resolve("spool").resolve(RUN.value())));
    }

    /// A broker that gets a new topic ready may refuse the first batches for a while and take the later ones.
    @Test
    void aLaterBatchsAcknowledgementSaysNothingAboutTheFirst() throws Exception {
        Spool spool = Spool.create(folder.resolve("spool"), RUN);
        seal(spool, 5);
        spool.close();
        for (int sequence : new int[] {2, 3, 4, 3, 0}) {
            spool.acknowledge(sequence);
            assertFalse(spool.awaitEmpty(0));
            assertTrue(Files.exists(onlySegment()));
        }
        spool.acknowledge(1);
        assertTrue(spool.awaitEmpty(0));
        assertFalse(Files.exists(folder.resolve("spool").resolve(RUN.value())));
    }

    @Test
    void whatACrashLeftIsPublishedAndACutTailIsKeptAside() throws Exception {
        Spool spool = Spool.create(folder.resolve("spool"), RUN);
        seal(spool, 10);
        Path segment = onlySegment();
        byte[] octets = Files.readAllBytes(segment);
        Files.write(segment, java.util.Arrays.copyOf(octets, octets.length - 1));
        var broker = new Broker();
        var recovery = new SpoolRecovery(folder.resolve("spool"), folder.resolve("quarantine"), run -> false);
        SpoolRecovery.Recovered recovered = recovery.recover(broker, TIMEOUT_NS).getFirst();
        assertEquals(9, recovered.batches());
        assertEquals(9, broker.batches.size());
        assertEquals(octets.length - 1, Files.size(recovered.quarantined().getFirst()));
        assertTrue(recovery.recover(broker, TIMEOUT_NS).isEmpty());
    }

    @Test
    void aLiveRecordersSpoolIsLeftAlone() throws Exception {
        Spool spool = Spool.create(folder.resolve("spool"), RUN);
        seal(spool, 3);
        try (RunLock lock = RunLock.take(new DataFolder(folder), RUN)) {
            assertNotNull(lock);
            var recovery = new SpoolRecovery(
                    folder.resolve("spool"),
                    folder.resolve("quarantine"),
                    run -> RunLock.isHeld(new DataFolder(folder), run));
            assertTrue(recovery.recover(new Broker(), TIMEOUT_NS).isEmpty());
        }
        assertFalse(RunLock.isHeld(new DataFolder(folder), RUN));
    }

    @Test
    void everyFlippedBitOfASegmentIsFound() throws Exception {
        Spool spool = Spool.create(folder.resolve("spool"), RUN);
        seal(spool, 2);
        byte[] octets = Files.readAllBytes(onlySegment());
        assertEquals(2, SpoolSegment.read(octets).batches().size());
        for (int bit = 0; bit < octets.length * 8; bit++) {
            octets[bit / 8] ^= (byte) (1 << bit % 8);
            assertNotNull(SpoolSegment.read(octets).fault(), "bit " + bit);
            octets[bit / 8] ^= (byte) (1 << bit % 8);
        }
    }

    @Test
    void keysAreMadeOnceReadableByTheirOwnerAlone() throws Exception {
        Path keys = folder.resolve("keys");
        Ed25519Key made = KeyFile.loadOrCreate(keys, "recorder");
        assertEquals(made.encoded(), KeyFile.loadOrCreate(keys, "recorder").encoded());
        Path file = keys.resolve("recorder.key");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals(made.verifier().encoded() + "\n", Files.readString(keys.resolve("recorder.pub")));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertThrows(RecorderException.class, () -> KeyFile.loadOrCreate(keys, "recorder"));
    }
}
