package blackbox.ingest.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.storage.LocalStore;
import blackbox.ingest.DuckRows;
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
import blackbox.schemas.table.EventsTable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A commit is cut off at every one of its steps in turn, the table opened again as after a crash, and the work
/// redone from what the table says. The last step is the case of a failure whose commit was persisted all the
/// same.
final class CommitCrashTest {

    private static final String SOURCE = "test/topic/0";
    private static final int BATCHES_PER_COMMIT = 3;

    @TempDir
    Path folder;

    private final List<SealedBatch> topic = new ArrayList<>();

    /// Counts steps and cuts off at one of them.
    private static final class CutAt implements CommitStep.Observer {

        private int left;

        CutAt(int left) {
            this.left = left;
        }

        @Override
        public void reached(CommitStep step) {
            if (left-- == 0) {
                throw new Cut();
            }
        }
    }

    private static final class Cut extends Error {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void noStepLosesOrDoublesARow() throws Exception {
        var one = new Traffic(new Random(1));
        var two = new Traffic(new Random(2));
        for (int i = 0; i < 5; i++) {
            topic.add(one.batch(40));
            topic.add(two.batch(25));
        }
        topic.add(one.close());
        int crashes = 0;
        boolean done = false;
        for (int cut = 0; !done; cut++) {
            var layout = new DataFolder(folder.resolve("cut-" + cut));
            done = ingest(layout, new CutAt(cut));
            crashes += done ? 0 : 1;
            assertTrue(ingest(layout, CommitStep.Observer.NONE));
            assertTable(layout, one, two);
        }
        assertEquals(4 * CommitStep.values().length, crashes);
    }

    /// Takes the topic from where the table says it is; false when it was cut off.
    private boolean ingest(DataFolder layout, CommitStep.Observer observer) throws IngestException {
        try (EventTable table = EventTable.openForWriting(layout, LocalStore.in(layout));
                TableStates states = TableRoundTripTest.states(layout);
                var writer = new TableWriter(table, TableRoundTripTest.INGEST_KEY, new Random(3), observer)) {
            CommitState state = table.state();
            var check = new BatchCheck(() -> List.of(Traffic.KEY.verifier()), Ownership.ALL, states);
            Map<RunId, ChainState> runs = new HashMap<>();
            int at = Math.toIntExact(state.offsets().getOrDefault(SOURCE, 0L));
            for (; at < topic.size(); at++) {
                SealedBatch batch = topic.get(at);
                CheckResult.Accepted accepted = assertInstanceOf(
                        CheckResult.Accepted.class, check.check(batch.run().value(), batch.octets()));
                writer.append(batch);
                runs.put(batch.run(), accepted.after());
                if (accepted.closes()) {
                    runs.remove(batch.run());
                    writer.complete(batch.run());
                }
                if ((at + 1) % BATCHES_PER_COMMIT == 0 || at + 1 == topic.size()) {
                    writer.commit(new CommitState(Map.of(SOURCE, at + 1L), runs));
                    runs.clear();
                }
            }
            return true;
        } catch (Cut _) {
            return false;
        }
    }

    private static void assertTable(DataFolder layout, Traffic... runs) throws Exception {
        EventTable table = EventTable.openForReading(layout);
        assertNotNull(table);
        try (table) {
            Set<Path> known = new HashSet<>();
            for (Traffic run : runs) {
                List<DataFileEntry> files = table.plan(run.run());
                for (DataFileEntry file : files) {
                    TableRoundTripTest.assertSealed(file);
                    known.add(file.path());
                    known.add(file.path().resolveSibling(file.name().sealName()));
                }
                TableRoundTripTest.assertRows(
                        run,
                        DuckRows.read(files.stream().map(DataFileEntry::path).toList()));
            }
            assertEquals(known, files(layout.warehouse().resolve(EventsTable.DATA_FOLDER)));
            assertEquals(Set.of(), files(layout.staging()));
        }
        try (TableStates states = TableRoundTripTest.states(layout)) {
            long end = runs[0].batches().getLast().endIndex();
            assertEquals(new RunStates.Closed(end), states.of(runs[0].run()));
            var open = assertInstanceOf(RunStates.Open.class, states.of(runs[1].run()));
            assertEquals(runs[1].batches().getLast().endIndex(), open.state().nextIndex());
        }
    }

    private static Set<Path> files(Path folder) throws Exception {
        try (Stream<Path> files = Files.walk(folder)) {
            return new HashSet<>(files.filter(Files::isRegularFile).toList());
        }
    }
}
