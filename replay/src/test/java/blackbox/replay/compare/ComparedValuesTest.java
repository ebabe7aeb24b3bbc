package blackbox.replay.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.divergence.Alignment;
import blackbox.replay.divergence.AlignmentSettings;
import blackbox.replay.divergence.Divergences;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.divergence.RecordedEvents;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.files.CleanDisk;
import blackbox.replay.files.RecordedFiles;
import blackbox.replay.files.TestDisk;
import blackbox.vm.Command;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files that two sides left, with what their events know: databases that are laid out otherwise, and numbers of
/// processes in names and contents.
class ComparedValuesTest {
    private static final String NUMBERS =
            "numbers of processes in the files that were left, which stand for each other: ";
    private static final String DATABASES = "SQLite databases with the same tables and rows, laid out otherwise: ";
    private static final String ROWS =
            "create table t(k); insert into t values(%s); insert into t values(%s); update t set k='one' where rowid=%d;";

    @TempDir
    Path folder;

    private int disks;

    /// The result of a comparison, and what was said of it.
    private record Compared(Alignment alignment, List<String> said) {
        EffectDifference effect() {
            assertEquals(Alignment.Outcome.DIVERGED, alignment.outcome(), alignment::toString);
            return alignment.differences().shownEffects().getFirst();
        }

        void isSame(String saying) {
            assertEquals(Alignment.Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
            assertTrue(alignment.rules().contains("values"), alignment::toString);
            assertTrue(said.stream().anyMatch(line -> line.startsWith(saying)), said::toString);
        }
    }

    /// What one side has done.
    private record Done(RecordedEvents events, List<String> files) {}

    private Compared compare(Done recorded, Done actual) throws Exception {
        try (var files = new ComparedFiles(left(recorded), left(actual))) {
            Alignment alignment = Divergences.align(
                    new Side("one", recorded.events().source(), RunInputs.UNKNOWN),
                    new Side("other", actual.events().source(), RunInputs.UNKNOWN),
                    files,
                    AlignmentSettings.of(7));
            return new Compared(alignment, files.notCompared());
        }
    }

    private ComparedFiles.Left left(Done side) throws Exception {
        Path disk = new TestDisk(folder).make("disk" + disks++, side.files());
        return new ComparedFiles.Left(
                () -> new RecordedFiles.Known(CleanDisk.open(disk)),
                side.events().source());
    }

    /// A file with these octets.
    private String write(String name, byte[] octets) throws Exception {
        return new TestDisk(folder).write(name, new String(octets, StandardCharsets.ISO_8859_1));
    }

    /// Two rows that were written in one order or the other, with the same content.
    private byte[] database(boolean first, String two) throws Exception {
        Path file = Files.createTempFile(folder, "db", "");
        String sql =
                first ? ROWS.formatted("'one'", "'" + two + "'", 1) : ROWS.formatted("'longer'", "'" + two + "'", 1);
        Command.of(
                        "python3",
                        "-c",
                        "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()",
                        file.toString(),
                        sql)
                .run();
        return Files.readAllBytes(file);
    }

    private Done withDatabase(byte[] octets, String... more) throws Exception {
        var events = new RecordedEvents(1 + disks).open();
        Guest shell = events.fork(events.init, "sh");
        events.exec(shell, "/bin/sh", "run.sh");
        events.create(shell, "/db", RecordedEvents.WRITE_CREATE);
        events.write(shell, "/db", 100);
        events.exit(shell, 0);
        events.close();
        var files = new ArrayList<>(List.of(write("db", octets)));
        for (String name : more) {
            files.add(write(name, "left".getBytes(StandardCharsets.US_ASCII)));
        }
        return new Done(events, files);
    }

    @Test
    void aDatabaseThatIsLaidOutOtherwiseIsTheSame() throws Exception {
        byte[] one = database(true, "two");
        byte[] other = database(false, "two");
        compare(withDatabase(one), withDatabase(other)).isSame(DATABASES + 1);
        EffectDifference row =
                compare(withDatabase(one), withDatabase(database(false, "too"))).effect();
        assertEquals("/db", row.subject());
        assertTrue(row.expected().contains("table t, row 2, value 1: a text of 3 octets"), row::toString);
    }

    /// What is in a log or a journal beside it belongs to the database.
    @Test
    void aDatabaseThatIsNotWholeIsComparedOctetForOctet() throws Exception {
        byte[] one = database(true, "two");
        byte[] other = database(false, "two");
        for (String beside : List.of("db-wal", "db-journal")) {
            EffectDifference octets = compare(withDatabase(one, beside), withDatabase(other, beside))
                    .effect();
            assertEquals("/db", octets.subject(), beside);
            assertTrue(!octets.expected().contains("table"), octets::toString);
        }
        compare(withDatabase(one, "db-shm"), withDatabase(other, "db-shm")).isSame(DATABASES + 1);
    }

    /// A server that writes numbers into a file or its name; other programs end long before, and come long after.
    private Done server(long seed, String name, String content) throws Exception {
        var events = new RecordedEvents(seed).open();
        Guest shell = events.fork(events.init, "sh");
        events.exec(shell, "/bin/sh", "run.sh");
        Guest early = events.fork(shell, "early");
        events.exec(early, "/bin/early");
        events.exit(early, 0);
        Guest server = events.fork(shell, "server");
        events.exec(server, "/bin/server");
        events.pass(60_000_000_000L);
        String path = name.replace("$$", "" + server.pid());
        events.create(server, "/" + path, RecordedEvents.WRITE_CREATE);
        events.write(server, "/" + path, 4);
        events.exit(server, 0);
        events.pass(60_000_000_000L);
        Guest late = events.fork(shell, "late");
        events.exec(late, "/bin/late");
        events.exit(late, 0);
        events.exit(shell, 0);
        events.close();
        String filled = content.replace("$$", "" + server.pid())
                .replace("$early", "" + early.pid())
                .replace("$late", "" + late.pid())
                .replace("$shell", "" + shell.pid());
        return new Done(events, List.of(write(path, filled.getBytes(StandardCharsets.US_ASCII))));
    }

    @Test
    void theNumberOfAProcessStandsForThatOfItsCounterpart() throws Exception {
        compare(server(1, "pid", "$$\n"), server(2, "pid", "$$\n")).isSame(NUMBERS + 1);
        compare(server(1, "pid", "$shell: $$\n"), server(2, "pid", "$shell: $$\n"))
                .isSame(NUMBERS + 2);
        compare(server(1, "server.$$", "up"), server(2, "server.$$", "up"))
                .isSame("names of files that were left and stand for each other: 1");
        for (String wrong : List.of("$early\n", "$shell\n", "98765\n", "$$$$\n", "$$ ms\n")) {
            EffectDifference effect =
                    compare(server(1, "pid", "$$\n"), server(2, "pid", wrong)).effect();
            assertEquals("/pid", effect.subject(), wrong);
        }
        assertEquals(
                EffectDifference.Kind.FILE,
                compare(server(1, "server.$$", "up"), server(2, "server.98765", "up"))
                        .effect()
                        .kind());
    }

    /// Of all processes there ever were, some have any number: only those that lived then count.
    @Test
    void aProcessThatDidNotLiveThenIsNone() throws Exception {
        for (String other : List.of("$late\n", "$early\n")) {
            EffectDifference effect =
                    compare(server(1, "pid", other), server(2, "pid", other)).effect();
            assertEquals("/pid", effect.subject(), other);
        }
    }
}
