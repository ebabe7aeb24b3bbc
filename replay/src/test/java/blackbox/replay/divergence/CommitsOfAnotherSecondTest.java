package blackbox.replay.divergence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.compare.ComparedFiles;
import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.files.FilesAtEnd;
import blackbox.replay.files.RecordedFiles;
import blackbox.replay.files.TestDisk;
import blackbox.schemas.event.Kind;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A commit at the current time, from its events to the disk and to what names it, on two sides whose clocks
/// differ.
final class CommitsOfAnotherSecondTest {
    private static final String FOLDER = "/workspace/repo/.git/";

    @TempDir
    private Path folder;

    /// One side's events, and what it leaves.
    private static final class Work {
        private final RecordedEvents events;
        private final Guest shell;
        private final TestDisk disks;
        private final List<String> disk = new ArrayList<>(List.of(
                "mkdir workspace", "cd workspace", "mkdir repo", "cd repo", "mkdir .git", "cd .git", "mkdir objects"));
        private String last = "";

        Work(long seed, TestDisk disks) {
            this.disks = disks;
            events = new RecordedEvents(seed).open();
            shell = events.fork(events.init, "sh");
            events.exec(shell, "/usr/bin/dash", "build.sh");
        }

        long seconds() {
            return events.nowNs() / 1_000_000_000;
        }

        /// What git does, as events and on the disk.
        String object(Guest git, String type, String content) throws Exception {
            byte[] octets = (type + ' ' + content.length() + '\0' + content).getBytes(StandardCharsets.ISO_8859_1);
            String id =
                    HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(octets));
            String fan = id.substring(0, 2);
            String made =
                    FOLDER + "objects/" + fan + "/tmp_obj_" + events.newSuffix().substring(0, 6);
            events.create(git, made, RecordedEvents.EXCLUSIVE);
            events.write(git, made, 100);
            events.name(git, Kind.FILE_LINK, made, FOLDER + "objects/" + fan + "/" + id.substring(2));
            events.unlink(git, made);
            var file = new ByteArrayOutputStream();
            try (var out = new DeflaterOutputStream(file)) {
                out.write(octets);
            }
            disk.addAll(List.of(
                    "cd /upper/workspace/repo/.git/objects",
                    "mkdir " + fan,
                    "cd " + fan,
                    disks.write(id.substring(2), file.toString(StandardCharsets.ISO_8859_1))));
            return id;
        }

        void commit(UnaryOperator<String> change) throws Exception {
            Guest git = events.fork(shell, "git");
            events.exec(git, "/usr/bin/git", "commit");
            String who = "A <a@x> " + seconds() + " +0000\n";
            String parent = last.isEmpty() ? "" : "parent " + last + '\n';
            String text = "tree " + "4".repeat(40) + '\n' + parent + "author " + who + "committer " + who + "\nx\n";
            last = object(git, "commit", change.apply(text));
            events.create(git, FOLDER + "HEAD.lock", RecordedEvents.EXCLUSIVE);
            events.name(git, Kind.FILE_RENAME, FOLDER + "HEAD.lock", FOLDER + "HEAD");
            events.exit(git, 0);
        }

        void run(String... argv) {
            Guest child = events.fork(shell, "git");
            events.exec(child, argv);
            events.exit(child, 0);
        }

        Work end(String head) throws Exception {
            disk.addAll(List.of("cd /upper/workspace/repo/.git", disks.write("HEAD", head + "\n")));
            events.exit(shell, 0);
            events.close();
            return this;
        }
    }

    /// What a side does.
    @FunctionalInterface
    private interface Deeds {
        void on(Work work) throws Exception;
    }

    private static final Deeds TWO_COMMITS = work -> {
        work.commit(text -> text);
        work.commit(text -> text);
        work.run("git", "show", work.last.substring(0, 9));
        work.end(work.last);
    };

    /// Looks into the folder that has the first letters of a commit's id, which no id of the whole names.
    private static Deeds looks(String id) {
        return work -> {
            work.commit(text -> text);
            work.events.open(work.shell, FOLDER + "objects/" + (id.isEmpty() ? work.last : id).substring(0, 2));
            work.end(work.last);
        };
    }

    @Test
    void theFolderOfAnObjectDiffersForItsTime() throws Exception {
        Alignment alignment = align(looks(""), looks(""));
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        DivergencePoint path = Objects.requireNonNull(alignment.differences().firstPath());
        assertEquals(DivergenceClass.CLOCK, path.reason(), path::toString);
        assertTrue(path.causes().getFirst().contains("differ in nothing else"), path::toString);
    }

    @Test
    void aFolderOfNoProvenObjectIsUnexplained() throws Exception {
        Alignment alignment = align(looks("00"), looks("ff"));
        DivergencePoint path = Objects.requireNonNull(alignment.differences().firstPath());
        assertEquals(DivergenceClass.UNEXPLAINED, path.reason(), path::toString);
    }

    private Alignment align(Deeds recorded, Deeds actual) throws Exception {
        var disks = new TestDisk(folder);
        var one = new Work(1, disks);
        var other = new Work(2, disks);
        recorded.on(one);
        actual.on(other);
        assertTrue(Math.abs(one.seconds() - other.seconds()) > 60, "clocks that differ");
        try (var files = new ComparedFiles(left(one, "one"), left(other, "other"))) {
            Alignment alignment = Divergences.align(
                    new Side("one", one.events.source(), RunInputs.UNKNOWN),
                    new Side("other", other.events.source(), RunInputs.UNKNOWN),
                    files,
                    AlignmentSettings.of(3));
            return alignment.with(files.notCompared());
        }
    }

    private ComparedFiles.Left left(Work work, String name) throws Exception {
        Path image = work.disks.make(name, work.disk);
        return new ComparedFiles.Left(() -> new RecordedFiles.Known(FilesAtEnd.ofImage(image)), work.events.source());
    }

    @Test
    void theyAreTheSame() throws Exception {
        Alignment alignment = align(TWO_COMMITS, TWO_COMMITS);
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertTrue(alignment.rules().containsAll(List.of("object-ids", "values")), alignment::toString);
        assertEquals(0, alignment.differences().path(), alignment::toString);
        String said = String.join("\n", alignment.notCompared());
        assertTrue(said.contains("ids of git's objects"), said);
        assertTrue(said.contains(": 2 ("), said);
    }

    @Test
    void plantedDifferencesAreFound() throws Exception {
        List<Deeds> others = List.of(
                second(text -> text.replace("A <a@x>", "B <a@x>")),
                second(text -> text.replace("\nx\n", "\ny\n")),
                second(text -> text.replaceFirst("4{40}", "5".repeat(40))),
                second(text -> text.replaceFirst("parent .{40}", "parent " + "0".repeat(40))),
                work -> second(text -> text.replaceAll(" [0-9]{10} ", " " + (work.seconds() - 3_600) + " "))
                        .on(work));
        for (Deeds other : others) {
            Alignment alignment = align(TWO_COMMITS, other);
            assertEquals(Outcome.DIVERGED, alignment.outcome(), alignment::toString);
            assertFalse(alignment.rules().contains("object-ids"), alignment::toString);
        }
    }

    /// The second commit is made otherwise.
    private static Deeds second(UnaryOperator<String> change) {
        return work -> {
            work.commit(text -> text);
            work.commit(change);
            work.run("git", "show", work.last.substring(0, 9));
            work.end(work.last);
        };
    }

    @Test
    void whatNamesAnotherCommitIsFound() throws Exception {
        Deeds stale = work -> {
            work.commit(text -> text);
            String first = work.last;
            work.commit(text -> text);
            work.run("git", "show", work.last.substring(0, 9));
            work.end(first);
        };
        Alignment head = align(TWO_COMMITS, stale);
        assertEquals(Outcome.DIVERGED, head.outcome(), head::toString);
        assertEquals(
                FOLDER + "HEAD", head.differences().shownEffects().getFirst().subject(), head::toString);
        Deeds other = work -> {
            work.commit(text -> text);
            String first = work.last;
            work.commit(text -> text);
            work.run("git", "show", first.substring(0, 9));
            work.end(work.last);
        };
        Alignment argument = align(TWO_COMMITS, other);
        assertEquals(Outcome.DIVERGED, argument.outcome(), argument::toString);
        assertEquals(
                EffectDifference.Kind.PROGRAM,
                argument.differences().shownEffects().getFirst().kind(),
                argument::toString);
    }

    /// A copy of the repository whose file of the commit is another one.
    @Test
    void aDamagedCopyIsFound() throws Exception {
        Deeds copied = work -> copied(work, "the same");
        assertEquals(
                Outcome.DIVERGED,
                align(copied, work -> copied(work, "not the same")).outcome());
    }

    private static void copied(Work work, String content) throws Exception {
        work.commit(text -> text);
        String file = work.last.substring(2);
        work.disk.addAll(List.of(
                "cd /upper",
                "mkdir copy",
                "cd copy",
                "mkdir objects",
                "cd objects",
                "mkdir " + work.last.substring(0, 2),
                "cd " + work.last.substring(0, 2),
                work.disks.write(file, content)));
        work.end(work.last);
    }

    /// One whose events do not say when it was made, such as one that was unpacked.
    @Test
    void anObjectOfUnknownOriginStandsForNothing() throws Exception {
        Deeds unpacked = work -> {
            Guest tar = work.events.fork(work.shell, "tar");
            work.events.exec(tar, "/usr/bin/tar", "-x");
            String who = "A <a@x> " + work.seconds() + " +0000\n";
            var silent = new Work(3, work.disks);
            String id = silent.object(
                    silent.shell,
                    "commit",
                    "tree " + "4".repeat(40) + "\nauthor " + who + "committer " + who + "\nx\n");
            work.disk.addAll(silent.disk.subList(7, silent.disk.size()));
            work.events.exit(tar, 0);
            work.end(id);
        };
        Alignment alignment = align(unpacked, unpacked);
        assertEquals(Outcome.DIVERGED, alignment.outcome(), alignment::toString);
    }
}
