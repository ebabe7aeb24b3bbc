package blackbox.ingest.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.GoldenWarehouse;
import blackbox.evidence.storage.LocalStore;
import blackbox.evidence.storage.MemoryStore;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.verify.SealTrust;
import blackbox.ingest.IngestException;
import blackbox.ingest.Traffic;
import blackbox.ingest.check.BatchCheck;
import blackbox.ingest.check.ChainState;
import blackbox.ingest.check.CheckResult;
import blackbox.ingest.check.Ownership;
import blackbox.ingest.check.RunStates;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.iceberg.AppendFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Where the state of open runs was and is: in the summary of a snapshot up to version 2, beside the data
/// since.
final class StateVersionsTest {

    private static final String SOURCE = "test/topic/0";
    private static final int OPEN_RUNS = 1_000;
    private static final long METADATA_BYTES_MAX = 1 << 20;

    @TempDir
    Path folder;

    private EventTable open(DataFolder layout) throws IngestException {
        return EventTable.openForWriting(layout, LocalStore.in(layout));
    }

    private static TableWriter writer(EventTable table) {
        return new TableWriter(table, TableRoundTripTest.INGEST_KEY, new Random(3), CommitStep.Observer.NONE);
    }

    /// As an older version left it: data files without a state, and all states in the summary.
    private void commitAsBefore(DataFolder layout, String version, Traffic run, ChainState state) throws Exception {
        try (EventTable table = open(layout);
                var writer = writer(table)) {
            writer.append(run.batches().getFirst());
            writer.commit(new CommitState(Map.of(SOURCE, 1L), Map.of()));
            String text = version.equals("1") ? state.text().replaceFirst(" direct$", "") : state.text();
            AppendFiles append = table.iceberg().newAppend();
            append.set("blackbox.state.version", version)
                    .set("blackbox.offset." + SOURCE, "1")
                    .set("blackbox.run." + run.run(), text)
                    .commit();
        }
    }

    @Test
    void versionsOneAndTwoAreReadAndMoved() throws Exception {
        for (String version : List.of("1", "2")) {
            var layout = new DataFolder(folder.resolve(version));
            var run = new Traffic(new Random(1));
            for (int i = 0; i < 3; i++) {
                run.batch(10);
            }
            ChainState state = stateAfter(run.batches().getFirst());
            commitAsBefore(layout, version, run, state);
            try (TableStates states = TableRoundTripTest.states(layout)) {
                assertEquals(new RunStates.Open(state), states.of(run.run()));
            }
            var other = new Traffic(new Random(2));
            ingest(layout, 2, List.of(other.batch(5)));
            assertEquals(Map.of(SOURCE, 2L), offsets(layout));
            try (TableStates states = TableRoundTripTest.states(layout)) {
                assertEquals(new RunStates.Open(state), states.of(run.run()));
            }
            ingest(layout, 4, run.batches().subList(1, 3));
            try (TableStates states = TableRoundTripTest.states(layout);
                    Stream<Path> files = Files.list(layout.dataFiles(run.run()))) {
                var standing = assertInstanceOf(RunStates.Open.class, states.of(run.run()));
                assertEquals(
                        run.batches().getLast().endIndex(), standing.state().nextIndex());
                assertEquals(4, files.count(), "the note is gone");
            }
        }
    }

    /// The data folder that an older version wrote.
    @Test
    void theGoldenWarehouseIsCarriedOn() throws Exception {
        var layout = new DataFolder(GoldenWarehouse.unpack(folder.resolve("golden")));
        CommitState before;
        try (EventTable table = open(layout)) {
            before = table.state();
        }
        var other = new Traffic(new Random(2));
        ingest(layout, 1, List.of(other.batch(5)));
        try (EventTable table = open(layout)) {
            assertEquals(Map.of(), table.state().runs());
            assertTrue(table.state()
                    .offsets()
                    .entrySet()
                    .containsAll(before.offsets().entrySet()));
        }
        try (TableStates states =
                TableRoundTripTest.states(layout, TableRoundTripTest.INGEST_KEY.verifier(), GoldenWarehouse.key())) {
            assertEquals(Set.of(GoldenWarehouse.OPEN), before.runs().keySet());
            assertEquals(
                    new RunStates.Open(Objects.requireNonNull(before.runs().get(GoldenWarehouse.OPEN))),
                    states.of(GoldenWarehouse.OPEN));
            assertEquals(new RunStates.Closed(GoldenWarehouse.CLOSED_EVENTS), states.of(GoldenWarehouse.CLOSED));
        }
    }

    private static ChainState stateAfter(SealedBatch batch) throws Exception {
        var check = new BatchCheck(() -> List.of(Traffic.KEY.verifier()), Ownership.ALL, RunStates.NONE);
        return assertInstanceOf(
                        CheckResult.Accepted.class, check.check(batch.run().value(), batch.octets()))
                .after();
    }

    private Map<String, Long> offsets(DataFolder layout) throws Exception {
        EventTable table = EventTable.openForReading(layout);
        assertNotNull(table);
        try (table) {
            assertEquals(Map.of(), table.state().runs());
            return table.state().offsets();
        }
    }

    private void ingest(DataFolder layout, long offset, List<SealedBatch> batches) throws Exception {
        try (EventTable table = open(layout);
                TableStates states = TableRoundTripTest.states(layout);
                var writer = writer(table)) {
            var check = new BatchCheck(() -> List.of(Traffic.KEY.verifier()), Ownership.ALL, states);
            var changed = new HashMap<RunId, ChainState>();
            for (SealedBatch batch : batches) {
                var accepted = assertInstanceOf(
                        CheckResult.Accepted.class, check.check(batch.run().value(), batch.octets()));
                writer.append(batch);
                changed.put(batch.run(), accepted.after());
            }
            writer.commit(new CommitState(Map.of(SOURCE, offset), changed));
        }
    }

    @Test
    void aThousandOpenRunsAddNothingToTheMetadata() throws Exception {
        var layout = new DataFolder(folder);
        var batches = new ArrayList<SealedBatch>();
        for (int i = 0; i < OPEN_RUNS; i++) {
            batches.add(new Traffic(new Random(i)).batch(1));
        }
        var store = new MemoryStore();
        try (EventTable table = EventTable.openForWriting(layout, store);
                var writer = writer(table)) {
            var check = new BatchCheck(() -> List.of(Traffic.KEY.verifier()), Ownership.ALL, RunStates.NONE);
            var changed = new HashMap<RunId, ChainState>();
            for (SealedBatch batch : batches) {
                var accepted = assertInstanceOf(
                        CheckResult.Accepted.class, check.check(batch.run().value(), batch.octets()));
                writer.append(batch);
                changed.put(batch.run(), accepted.after());
            }
            writer.commit(new CommitState(Map.of(SOURCE, (long) OPEN_RUNS), changed));
            for (int i = 1; i <= 8; i++) {
                writer.commit(new CommitState(Map.of(SOURCE, (long) OPEN_RUNS + i), Map.of()));
            }
        }
        long bytes = 0;
        try (Stream<Path> files = Files.list(layout.table().resolve("metadata"))) {
            for (Path file : files.filter(each -> each.toString().endsWith(".metadata.json"))
                    .toList()) {
                bytes = Math.max(bytes, Files.size(file));
            }
        }
        System.out.printf(
                "StateVersionsTest: metadata.json has at most %d octets with %d open runs%n", bytes, OPEN_RUNS);
        assertTrue(bytes <= METADATA_BYTES_MAX, bytes + " octets");
        EventTable reader = EventTable.openForReading(layout);
        assertNotNull(reader);
        var trust = new SealTrust(
                new TransparencyLogReader(layout.log()), () -> List.of(TableRoundTripTest.INGEST_KEY.verifier()));
        try (var states = new TableStates(reader, store, trust)) {
            for (SealedBatch batch : batches.subList(0, 20)) {
                var open = assertInstanceOf(RunStates.Open.class, states.of(batch.run()));
                assertEquals(batch.endIndex(), open.state().nextIndex());
            }
        }
    }
}
