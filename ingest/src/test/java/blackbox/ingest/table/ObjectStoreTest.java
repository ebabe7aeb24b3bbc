package blackbox.ingest.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.bundle.BundleVerifier;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.storage.MemoryStore;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.RunVerifier;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.ingest.IngestException;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.table.EventsTable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// From sealed batches to a verdict with the data files and their seals in an object store.
final class ObjectStoreTest {

    private static final int BATCHES = 5;

    @TempDir
    Path folder;

    private final MemoryStore store = new MemoryStore();
    private TestRun run;

    @BeforeEach
    void ingest() throws Exception {
        run = TestEvents.smallBuild(new TestRun(folder), BATCHES);
        try (EventTable table = open();
                var writer = new TableWriter(table, run.key, new Random(1), CommitStep.Observer.NONE)) {
            for (SealedBatch batch : run.batches.subList(0, BATCHES)) {
                writer.append(batch);
                writer.commit(CommitState.EMPTY);
            }
            assertEquals(
                    2 * BATCHES, store.list(EventsTable.dataFolder(run.run)).size());
            writer.append(run.batches.getLast());
            writer.complete(run.run);
            writer.commit(CommitState.EMPTY);
        }
    }

    private EventTable open() throws Exception {
        return EventTable.openForWriting(new DataFolder(folder), store);
    }

    private Recordings recordings() {
        return Recordings.unchecked(folder, store);
    }

    /// The small files became one when the run closed, in the store as on the disk.
    @Test
    void theRunVerifies() throws Exception {
        assertEquals(2, store.list(EventsTable.dataFolder(run.run)).size());
        assertFalse(Files.exists(new DataFolder(folder).warehouse().resolve(EventsTable.DATA_FOLDER)));
        assertEquals(List.of(run.run), recordings().runs());
        Verification verification = RunVerifier.verify(recordings(), run.run, List.of(run.key.verifier()));
        assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
        assertEquals(List.of(), verification.findings());
        assertEquals(run.batches.getLast().endIndex(), verification.events());
    }

    @Test
    void aChangedOctetIsFound() throws Exception {
        String data = EventTable.key(
                run.run, store.list(EventsTable.dataFolder(run.run)).getFirst());
        byte[] octets;
        try (var file = store.open(data)) {
            octets = Objects.requireNonNull(file.octets(1 << 20));
        }
        octets[octets.length / 2] ^= 1;
        store.delete(data);
        store.put(data, Files.write(folder.resolve("changed"), octets));
        Verification verification = RunVerifier.verify(recordings(), run.run, List.of(run.key.verifier()));
        assertEquals(Integrity.TAMPERED, verification.integrity(), verification::toString);
    }

    @Test
    void itsBundleVerifies() throws Exception {
        Path bundle = folder.resolve("run.bundle.zip");
        BundleWriter.write(recordings(), run.run, run.key, bundle);
        Verification verification = BundleVerifier.verify(bundle, List.of(run.key.verifier()), AnchorTrust.none());
        assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
    }

    @Test
    void onlyWhatACommitHadBegunToAddIsRemoved() throws Exception {
        String cutOff = EventTable.key(run.run, "0000000000000000000-0000000000000000009-00000000.parquet");
        String others = EventTable.key(run.run, "0000000000000000000-0000000000000000009-11111111.parquet");
        for (String key : List.of(cutOff, cutOff + ".seal", others)) {
            store.put(key, Files.writeString(folder.resolve("stray"), "cut off"));
        }
        new CommitIntent(List.of(cutOff), List.of()).write(new DataFolder(folder).staging());
        open().close();
        assertEquals(3, store.list(EventsTable.dataFolder(run.run)).size());
        assertTrue(store.exists(others));
        open().close();
        assertEquals(3, store.list(EventsTable.dataFolder(run.run)).size());
    }

    @Test
    void aNoteThatCannotBeReadStopsIngest() throws Exception {
        Files.writeString(new DataFolder(folder).staging().resolve("intent"), "blackbox/intent/v2\n+ a\n");
        var refused = assertThrows(IngestException.class, this::open);
        assertTrue(String.valueOf(refused.getCause()).contains("known version"), refused::toString);
    }
}
