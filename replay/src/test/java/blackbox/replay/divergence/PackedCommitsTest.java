package blackbox.replay.divergence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.compare.ComparedFiles;
import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.files.FilesAtEnd;
import blackbox.replay.files.RecordedFiles;
import blackbox.replay.files.TestDisk;
import blackbox.replay.git.GitFolder;
import blackbox.schemas.event.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Commits at the current time and `git gc`, on two sides whose clocks, process numbers and packs differ: what git
/// leaves is real, the events are as the tracer reports them.
final class PackedCommitsTest {
    private static final String FOLDER = "/workspace/repo/.git/";

    @TempDir
    private Path folder;

    /// One side's events, and what it leaves.
    private static final class Work {
        private final RecordedEvents events;
        private final Guest shell;
        private final TestDisk disks;
        private final GitFolder git;
        private final Set<String> known = new HashSet<>();

        Work(long seed, TestDisk disks) throws Exception {
            this.disks = disks;
            this.git = GitFolder.create(disks.folder().resolve("repo-" + seed));
            events = new RecordedEvents(seed).open();
            events.pass(seed * 100_000_000_000L);
            shell = events.fork(events.init, "sh");
            events.exec(shell, "/usr/bin/dash", "build.sh");
        }

        private long seconds() {
            return events.nowNs() / 1_000_000_000;
        }

        void commit(String content, String message) throws Exception {
            Guest program = events.fork(shell, "git");
            events.exec(program, "/usr/bin/git", "commit");
            git.write("file", content);
            git.commit(seconds(), message);
            for (String id : git.loose()) {
                if (known.add(id)) {
                    String fan = FOLDER + "objects/" + id.substring(0, 2);
                    String made = fan + "/tmp_obj_" + events.newSuffix().substring(0, 6);
                    events.create(program, made, RecordedEvents.EXCLUSIVE);
                    events.write(program, made, 100);
                    events.name(program, Kind.FILE_LINK, made, fan + "/" + id.substring(2));
                    events.unlink(program, made);
                }
            }
            events.exit(program, 0);
        }

        /// @param said the process number that is in temporary names
        void gc(Said said, String... options) throws Exception {
            Guest repack = events.fork(shell, "git");
            events.exec(repack, "/usr/bin/git", "repack", "-d");
            Guest pack = events.fork(repack, "git");
            int number = said.of(repack);
            String temporary = FOLDER + "objects/pack/.tmp-" + number + "-pack";
            events.exec(pack, "/usr/bin/git", "pack-objects", temporary);
            Set<String> loose = git.loose();
            var argv = new ArrayList<>(List.of(options));
            argv.addAll(List.of("gc", "-q"));
            git.git(seconds(), argv.toArray(String[]::new));
            String id = git.pack().substring("objects/pack/pack-".length());
            List<String> endings = List.of(".pack", ".idx");
            for (String ending : endings) {
                String made = FOLDER + "objects/pack/tmp_" + ending.substring(1) + "_"
                        + events.newSuffix().substring(0, 6);
                events.create(pack, made, RecordedEvents.EXCLUSIVE);
                events.write(pack, made, 1_000);
                events.name(pack, Kind.FILE_RENAME, made, temporary + "-" + id + ending);
            }
            events.exit(pack, 0);
            for (String ending : endings) {
                String place = FOLDER + "objects/pack/pack-" + id + ending;
                events.name(repack, Kind.FILE_RENAME, temporary + "-" + id + ending, place);
            }
            loose.forEach(each ->
                    events.unlink(repack, FOLDER + "objects/" + each.substring(0, 2) + "/" + each.substring(2)));
            events.exit(repack, 0);
        }

        /// All that git has, but its index and examples of hooks.
        List<String> disk() throws Exception {
            var commands = new ArrayList<>(List.of("mkdir workspace", "cd workspace", "mkdir repo", "cd repo"));
            commands.add("mkdir .git");
            Set<String> folders = new HashSet<>();
            for (Path file : git.files()) {
                String name = file.toString();
                if (name.equals("index") || name.startsWith("hooks/")) {
                    continue;
                }
                Path above = Path.of("");
                for (Path part : file) {
                    Path here = above.resolve(part);
                    if (!here.equals(file) && folders.add(here.toString())) {
                        commands.add("cd /upper/workspace/repo/.git/" + above);
                        commands.add("mkdir " + part);
                    }
                    above = here;
                }
                commands.add("cd " + FOLDER.replaceFirst("^", "/upper")
                        + (file.getParent() == null ? "" : file.getParent()));
                commands.add("write " + git.path(name) + " " + file.getFileName());
            }
            return commands;
        }
    }

    /// The process number that git puts into its temporary names: a part of it.
    @FunctionalInterface
    private interface Said {
        int of(Guest repack);
    }

    private static final Said ITS_OWN = Guest::pid;

    /// What a side does.
    @FunctionalInterface
    private interface Deeds {
        void on(Work work) throws Exception;
    }

    private static final Deeds RIGHT = deeds("second", ITS_OWN);

    private static Deeds deeds(String message, Said said, String... options) {
        return work -> {
            work.commit("one\n", "first");
            work.commit("one\ntwo\n", message);
            work.gc(said, options);
        };
    }

    private Alignment align(Deeds recorded, Deeds actual) throws Exception {
        return align(recorded, actual, _ -> {});
    }

    /// @param damage what happens to the replay's repository afterwards
    private Alignment align(Deeds recorded, Deeds actual, Deeds damage) throws Exception {
        var disks = new TestDisk(Files.createTempDirectory(folder, "disks"));
        var one = new Work(1, disks);
        var other = new Work(2, disks);
        recorded.on(one);
        actual.on(other);
        damage.on(other);
        assertTrue(one.seconds() != other.seconds(), "clocks that differ");
        try (var files = new ComparedFiles(left(one, "one"), left(other, "other"))) {
            Alignment alignment = Divergences.align(
                    new Side("one", one.events.source(), RunInputs.UNKNOWN),
                    new Side("other", other.events.source(), RunInputs.UNKNOWN),
                    files,
                    AlignmentSettings.of(3));
            return alignment.with(files.notCompared());
        }
    }

    private static ComparedFiles.Left left(Work work, String name) throws Exception {
        work.events.exit(work.shell, 0);
        work.events.close();
        Path image = work.disks.make(name, work.disk());
        return new ComparedFiles.Left(() -> new RecordedFiles.Known(FilesAtEnd.ofImage(image)), work.events.source());
    }

    private static void assertSame(Alignment alignment) {
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertTrue(alignment.rules().containsAll(List.of("object-ids", "values")), alignment::toString);
        String said = String.join("\n", alignment.notCompared());
        assertTrue(said.contains("in packs that hold the same ones: 1 with 6 objects"), said);
    }

    private static void assertDiverged(Alignment alignment, String subject) {
        assertEquals(Outcome.DIVERGED, alignment.outcome(), alignment::toString);
        assertTrue(
                alignment.differences().shownEffects().stream()
                        .anyMatch(effect -> effect.subject().contains(subject)),
                alignment::toString);
    }

    @Test
    void theyAreTheSame() throws Exception {
        Alignment alignment = align(RIGHT, RIGHT);
        assertSame(alignment);
        String said = String.join("\n", alignment.notCompared());
        assertTrue(said.contains("but for when each side made them: 2 ("), said);
        assertSame(align(RIGHT, deeds("second", ITS_OWN, "-c", "pack.window=0", "-c", "pack.compression=1")));
    }

    @Test
    void plantedDifferencesAreFound() throws Exception {
        assertDiverged(align(RIGHT, deeds("Second", ITS_OWN)), "/objects/pack/");
        assertDiverged(
                align(RIGHT, RIGHT, work -> {
                    Path pack = work.git.path(work.git.pack() + ".pack");
                    byte[] octets = Files.readAllBytes(pack);
                    octets[octets.length / 2] ^= 1;
                    assertTrue(pack.toFile().setWritable(true));
                    Files.write(pack, octets);
                }),
                "/objects/pack/");
        assertDiverged(
                align(RIGHT, RIGHT, work -> work.git.git(0, "update-ref", "refs/heads/main", "HEAD~1")),
                "refs/heads/main");
        assertDiverged(
                align(RIGHT, RIGHT, work -> {
                    Path graph = work.git.path("objects/info/commit-graph");
                    byte[] octets = Files.readAllBytes(graph);
                    octets[octets.length - 30] ^= 1;
                    assertTrue(graph.toFile().setWritable(true));
                    Files.write(graph, octets);
                }),
                "commit-graph");
    }

    /// The number in a temporary name is that of the process that gives it, or of its parent.
    @Test
    void anotherProcessNumberIsFound() throws Exception {
        assertDiverged(align(RIGHT, deeds("second", repack -> repack.pid() + 7)), "tmp-");
    }
}
