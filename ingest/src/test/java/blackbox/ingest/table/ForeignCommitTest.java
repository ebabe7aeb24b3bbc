package blackbox.ingest.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.storage.LocalStore;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.RunVerifier;
import blackbox.evidence.verify.Verification.Finding;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.ingest.IngestException;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileMetadata;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.RewriteFiles;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableIterable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Other engines commit to the table between ingest's commits: ingest goes on, deletes nothing that it did not write
/// and no evidence that the catalog has lost sight of, and verification says that the catalog shows something else.
final class ForeignCommitTest {

    private static final int BATCHES = 4;
    private static final String SOURCE = "test/topic/0";

    @TempDir
    Path folder;

    private DataFolder layout;
    private TestRun run;
    private int committed;

    @BeforeEach
    void ingestOneBatch() throws Exception {
        layout = new DataFolder(folder);
        run = TestEvents.smallBuild(new TestRun(folder), BATCHES);
        ingest(1);
    }

    private EventTable open() throws IngestException {
        return EventTable.openForWriting(layout, LocalStore.in(layout));
    }

    private TableWriter writer(EventTable table) {
        return new TableWriter(table, run.key, new Random(committed), CommitStep.Observer.NONE);
    }

    private void commitNext(TableWriter writer) throws IngestException {
        writer.append(run.batches.get(committed));
        if (committed + 1 == run.batches.size()) {
            writer.complete(run.run);
        }
        writer.commit(new CommitState(Map.of(SOURCE, committed + 1L), Map.of()));
        committed++;
    }

    private void ingest(int batches) throws IngestException {
        try (EventTable table = open();
                var writer = writer(table)) {
            for (int i = 0; i < batches; i++) {
                commitNext(writer);
            }
        }
    }

    private void ingestTheRest() throws IngestException {
        ingest(run.batches.size() - committed);
    }

    /// Puts a file where other engines put theirs by default, beside the run's own.
    private Path foreignFile(String name) throws IOException {
        return Files.writeString(layout.dataFiles(run.run).resolve(name), "not read here");
    }

    private DataFile foreignData(String name, long rows) throws IOException {
        return DataFiles.builder(IcebergSchema.PARTITIONS)
                .withPath(foreignFile(name).toString())
                .withFormat(FileFormat.PARQUET)
                .withFileSizeInBytes(13)
                .withRecordCount(rows)
                .withPartitionValues(List.of(run.run.value()))
                .build();
    }

    private DeleteFile foreignDeletes(String name) throws IOException {
        return FileMetadata.deleteFileBuilder(IcebergSchema.PARTITIONS)
                .ofPositionDeletes()
                .withPath(foreignFile(name).toString())
                .withFormat(FileFormat.PARQUET)
                .withFileSizeInBytes(13)
                .withRecordCount(1)
                .withPartitionPath("run=" + run.run.value())
                .build();
    }

    /// As engines do with small files: one new file takes the place of all that the catalog names.
    private static void compact(Table table, DataFile all) throws IOException {
        RewriteFiles rewrite = table.newRewrite();
        named(table).forEach(rewrite::deleteFile);
        rewrite.addFile(all).commit();
    }

    private static Set<DataFile> named(Table table) throws IOException {
        try (CloseableIterable<FileScanTask> tasks = table.newScan().planFiles()) {
            return StreamSupport.stream(tasks.spliterator(), false)
                    .map(FileScanTask::file)
                    .collect(Collectors.toSet());
        }
    }

    private Set<String> stored() throws IOException {
        try (Stream<Path> files = Files.list(layout.dataFiles(run.run))) {
            return files.map(each -> each.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private void assertVerified() throws Exception {
        var verification = RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(run.key.verifier()));
        assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
        assertEquals(run.batches.getLast().endIndex(), verification.events());
    }

    private String finding() throws IOException {
        List<Finding> findings = CatalogView.compare(Recordings.unchecked(folder), run.run);
        assertEquals(1, findings.size(), findings::toString);
        return findings.getFirst().what();
    }

    @Test
    void nothingIsFoundWhereIngestAloneCommitted() throws Exception {
        ingestTheRest();
        assertVerified();
        assertEquals(List.of(), CatalogView.compare(Recordings.unchecked(folder), run.run));
    }

    @Test
    void rowsThatAnotherEngineAddedStayItsOwn() throws Exception {
        try (EventTable table = open()) {
            table.iceberg()
                    .newAppend()
                    .appendFile(foreignData("00000-0-x.parquet", 1_000_000))
                    .commit();
            assertEquals(1, table.state().offsets().get(SOURCE));
            assertEquals(run.batches.getFirst().endIndex(), table.lengths().get(run.run));
        }
        ingestTheRest();
        assertTrue(stored().contains("00000-0-x.parquet"));
        assertVerified();
        assertTrue(finding().startsWith("FOREIGN_COMMIT"));
        assertTrue(finding().contains("00000-0-x.parquet"));
    }

    @Test
    void aDeleteFileIsKeptAndNamed() throws Exception {
        try (EventTable table = open()) {
            table.iceberg()
                    .newRowDelta()
                    .addDeletes(foreignDeletes("00000-1-deletes.parquet"))
                    .commit();
        }
        ingest(1);
        assertTrue(stored().contains("00000-1-deletes.parquet"));
        assertTrue(finding().contains("hides rows by delete files (00000-1-deletes.parquet)"));
        ingestTheRest();
        assertVerified();
    }

    /// While small files wait to become one.
    @Test
    void whatAnotherEngineReplacedIsStillEvidence() throws Exception {
        try (EventTable table = open();
                var writer = writer(table)) {
            commitNext(writer);
            compact(table.iceberg(), foreignData("00000-2-x.parquet", 7));
            assertTrue(finding().contains("does not name sealed files"));
            while (committed < run.batches.size()) {
                commitNext(writer);
            }
        }
        assertVerified();
        assertTrue(finding().contains("names files that ingest did not write (00000-2-x.parquet)"));
    }

    @Test
    void evidenceOutlivesTheSnapshotsThatNamedIt() throws Exception {
        try (EventTable table = open()) {
            compact(table.iceberg(), foreignData("00000-3-x.parquet", 7));
        }
        Set<String> before = stored();
        try (EventTable table = open();
                var writer = writer(table)) {
            commitNext(writer);
            writer.expire(System.currentTimeMillis() + 1, 1);
            assertEquals(
                    1,
                    StreamSupport.stream(table.iceberg().snapshots().spliterator(), false)
                            .count());
        }
        assertTrue(stored().containsAll(before));
        ingestTheRest();
        assertVerified();
        assertTrue(finding().contains("does not name sealed files"));
    }

    @Test
    void aTableThatWasRolledBackGoesOnFromTheLastCommit() throws Exception {
        long first;
        try (EventTable table = open();
                var writer = writer(table)) {
            first = table.iceberg().currentSnapshot().snapshotId();
            commitNext(writer);
        }
        try (EventTable table = open()) {
            table.iceberg().manageSnapshots().rollbackTo(first).commit();
            assertEquals(2, table.state().offsets().get(SOURCE));
            assertEquals(run.batches.get(1).endIndex(), table.lengths().get(run.run));
        }
        ingestTheRest();
        assertVerified();
        assertTrue(finding().contains("does not name sealed files"));
    }

    /// Where another engine expired all that ingest knows itself by, starting anew would take every row twice.
    @Test
    void aTableWithoutAnyCommitOfIngestIsRefused() throws Exception {
        try (EventTable table = open()) {
            Table iceberg = table.iceberg();
            long own = iceberg.currentSnapshot().snapshotId();
            iceberg.newAppend().appendFile(foreignData("00000-4-x.parquet", 7)).commit();
            iceberg.expireSnapshots().expireSnapshotId(own).commit();
        }
        Set<String> before = stored();
        var refused = assertThrows(IngestException.class, this::open);
        assertTrue(refused.toString().contains("expired the snapshots of ingest"), refused::toString);
        assertEquals(before, stored());
        EventTable readable = EventTable.openForReading(layout);
        assertNotNull(readable);
        readable.close();
    }
}
