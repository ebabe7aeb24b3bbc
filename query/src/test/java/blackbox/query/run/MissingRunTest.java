package blackbox.query.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.verify.SealTrust;
import blackbox.query.QueryException;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run whose files somebody deleted is listed all the same: the log of runs knows it.
final class MissingRunTest {

    @TempDir
    Path folder;

    @Test
    void aDeletedRunIsListedAsMissing() throws Exception {
        TestLog log = new TestLog(folder.resolve("log")).begin();
        TestRun kept = TestEvents.smallBuild(TestRun.certified(folder, log), 1);
        TestRun deleted = TestEvents.smallBuild(
                TestRun.certified(folder, log, RunId.create(Instant.ofEpochSecond(0, TestRun.START_NS), new Random(9))),
                1);
        log.publish();
        kept.table();
        deleted.table();
        Recordings recordings = Recordings.unchecked(folder)
                .trusting(new SealTrust(
                        new TransparencyLogReader(new DataFolder(folder).log()),
                        () -> List.of(log.key.verifier(), kept.key.verifier(), deleted.key.verifier())));
        assertEquals(List.of(RunState.CLOSED, RunState.CLOSED), states(recordings));
        delete(deleted.dataFolder());
        List<RunFacts> all = RunFacts.all(recordings);
        assertEquals(2, all.size());
        for (RunFacts facts : all) {
            assertEquals(facts.run().equals(deleted.run) ? RunState.MISSING : RunState.CLOSED, facts.state());
        }
        var asked = assertThrows(QueryException.class, () -> RunNames.resolve(recordings, deleted.run.value()));
        assertTrue(String.valueOf(asked.getMessage()).contains("is missing"), asked::getMessage);
        delete(kept.dataFolder());
        assertEquals(List.of(RunState.MISSING, RunState.MISSING), states(recordings));
    }

    /// The recorder certifies a run before its first row: one that was killed in between is listed, and told from one
    /// whose files somebody deleted.
    @Test
    void aRunThatEndedBeforeItsFirstRowHasWordsOfItsOwn() throws Exception {
        TestLog log = new TestLog(folder.resolve("log")).begin();
        TestRun begun = TestRun.certified(folder, log);
        log.add(String.valueOf(begun.certificate()));
        TestRun gone =
                TestRun.certified(folder, log, RunId.create(Instant.ofEpochSecond(0, TestRun.START_NS), new Random(9)));
        log.add(String.valueOf(gone.certificate()));
        log.publish();
        Files.createDirectories(begun.spoolFolder());
        Recordings recordings = Recordings.unchecked(folder)
                .trusting(new SealTrust(
                        new TransparencyLogReader(new DataFolder(folder).log()), () -> List.of(log.key.verifier())));
        List<RunFacts> all = RunFacts.all(recordings);
        assertEquals(2, all.size());
        for (RunFacts facts : all) {
            boolean missing = facts.run().equals(gone.run);
            assertEquals(missing ? RunState.MISSING : RunState.TRUNCATED, facts.state());
            assertEquals(0, facts.events());
            assertEquals(
                    missing
                            ? "the log of runs has its certificate, and nothing of it is here"
                            : "it ended before its first event was kept",
                    facts.ofNoEvents());
        }
    }

    private static List<RunState> states(Recordings recordings) throws Exception {
        return RunFacts.all(recordings).stream().map(RunFacts::state).toList();
    }

    private static void delete(Path folder) throws Exception {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
