package blackbox.ingest.table;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.storage.LocalStore;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.verify.SealTrust;
import blackbox.ingest.DuckRows;
import blackbox.ingest.DuckRows.ReadRow;
import blackbox.ingest.IngestException;
import blackbox.ingest.Traffic;
import blackbox.schemas.Hash;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.table.FileSeal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TableRoundTripTest {

    static final Ed25519Key INGEST_KEY = Ed25519Key.create("ingest.test", new SecureRandom());

    @TempDir
    Path folder;

    @Test
    void rowsComeBackLeafForLeaf() throws Exception {
        var traffic = new Traffic(new Random(1));
        for (int i = 0; i < 5; i++) {
            traffic.batch(1_000);
        }
        traffic.batch(0);
        List<ReadRow> rows = commitAndRead(traffic);
        assertRows(traffic, rows);
        assertTrue(rows.stream().noneMatch(ReadRow::raw));
    }

    @Test
    void aClosedRunsSmallFilesBecomeOne() throws Exception {
        var traffic = new Traffic(new Random(5));
        var open = new Traffic(new Random(6));
        var layout = new DataFolder(folder);
        try (EventTable table = EventTable.openForWriting(layout, LocalStore.in(layout));
                var writer = new TableWriter(table, INGEST_KEY, new Random(7), CommitStep.Observer.NONE)) {
            for (int i = 0; i < 40; i++) {
                writer.append(traffic.batch(20));
                writer.append(open.batch(3));
                writer.commit(CommitState.EMPTY);
            }
            assertEquals(40, table.plan(traffic.run()).size());
            writer.append(traffic.close());
            writer.complete(traffic.run());
            writer.commit(CommitState.EMPTY);
            List<DataFileEntry> files = table.plan(traffic.run());
            assertEquals(1, files.size());
            assertSealed(files.getFirst());
            assertRows(traffic, DuckRows.read(List.of(files.getFirst().path())));
            assertEquals(40, table.plan(open.run()).size());
            try (Stream<Path> there = Files.list(layout.dataFiles(traffic.run()))) {
                assertEquals(2, there.count());
            }
        }
    }

    private List<ReadRow> commitAndRead(Traffic traffic) throws Exception {
        var layout = new DataFolder(folder);
        try (EventTable table = EventTable.openForWriting(layout, LocalStore.in(layout));
                var writer = new TableWriter(table, INGEST_KEY, new Random(2), CommitStep.Observer.NONE)) {
            for (SealedBatch batch : traffic.batches()) {
                writer.append(batch);
            }
            writer.commit(CommitState.EMPTY);
        }
        EventTable table = EventTable.openForReading(layout);
        assertNotNull(table);
        try (table) {
            List<DataFileEntry> files = table.plan(traffic.run());
            for (DataFileEntry file : files) {
                assertSealed(file);
            }
            return DuckRows.read(files.stream().map(DataFileEntry::path).toList());
        }
    }

    /// How far runs are in the table there, under seals by the key that is used here.
    static TableStates states(DataFolder layout) throws IngestException {
        return states(layout, INGEST_KEY.verifier());
    }

    static TableStates states(DataFolder layout, NoteVerifier... trusted) throws IngestException {
        EventTable reader = EventTable.openForReading(layout);
        assertNotNull(reader);
        var trust = new SealTrust(new TransparencyLogReader(layout.log()), () -> List.of(trusted));
        return new TableStates(reader, LocalStore.in(layout), trust);
    }

    static void assertSealed(DataFileEntry file) throws Exception {
        SignedNote note = SignedNote.parse(
                Files.readString(file.path().resolveSibling(file.name().sealName())));
        assertNotNull(note);
        assertNotNull(note.signedBy(List.of(INGEST_KEY.verifier())));
        byte[] octets = Files.readAllBytes(file.path());
        var expected = new FileSeal(file.run(), file.name(), file.rows(), octets.length, Hash.sha256(octets));
        assertEquals(expected, FileSeal.parse(note.text()));
    }

    static void assertRows(Traffic traffic, List<ReadRow> rows) {
        int at = 0;
        for (SealedBatch batch : traffic.batches()) {
            LeafCursor leaves = batch.leaves();
            while (leaves.next()) {
                ReadRow row = rows.get(at);
                assertEquals(at, row.index());
                assertEquals(traffic.run().value(), row.run());
                assertArrayEquals(
                        Arrays.copyOfRange(leaves.array(), leaves.offset(), leaves.offset() + leaves.length()),
                        row.leaf(),
                        "leaf " + at);
                at++;
                assertEquals(at == batch.endIndex() ? batch.checkpoint() : null, row.checkpoint());
            }
        }
        assertEquals(at, rows.size());
    }
}
