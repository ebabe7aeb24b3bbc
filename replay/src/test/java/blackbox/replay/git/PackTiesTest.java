package blackbox.replay.git;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.content.Window;
import blackbox.schemas.row.Text;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Packs and commit graphs that git wrote stand for each other where they hold the same, and nowhere else.
final class PackTiesTest {
    private static final long SECOND_NS = 1_000_000_000;
    private static final long A = 1_795_611_318;
    private static final long B = 1_795_615_555;
    private static final Text GRAPH = Text.of("/.git/objects/info/commit-graph");

    @TempDir
    private static Path shared;

    @TempDir
    private Path folder;

    private static final Map<Long, Side> BEGUN = new HashMap<>();

    /// What all have in common, on either side.
    @BeforeAll
    static void begin() throws Exception {
        for (long start : new long[] {A, B}) {
            var side = new Side(GitFolder.create(shared.resolve("at-" + start)), start);
            for (int i = 0; i < 3; i++) {
                side.git.write("grows", "a line that all versions have\n".repeat(20 + i));
                side.commit("change " + i);
            }
            side.run("checkout", "-q", "-b", "topic", "HEAD~1");
            side.git.write("topic", "x\n");
            side.commit("topic");
            side.run("checkout", "-q", "main");
            side.run("merge", "-q", "--no-ff", "-m", "merge", "topic");
            BEGUN.put(start, side);
        }
    }

    /// One side: what it commits and packs, and when.
    private static final class Side implements ObjectSource {
        private final GitFolder git;
        private final Set<String> written = new LinkedHashSet<>();
        private final Map<String, Long> made = new HashMap<>();
        private long now;
        private Packs packs = noPacks();

        Side(GitFolder git, long now) {
            this.git = git;
            this.now = now;
        }

        Side copy(Path folder) throws Exception {
            var copy = new Side(git.copy(folder), now);
            copy.written.addAll(written);
            copy.made.putAll(made);
            return copy;
        }

        private static Packs noPacks() {
            try {
                return Packs.of(List.of(), _ -> null);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        void commit(String message) throws Exception {
            git.commit(now, message);
            note();
            now += 2;
        }

        void run(String... arguments) throws Exception {
            git.git(now, arguments);
            note();
        }

        private void note() throws IOException {
            for (String id : git.loose()) {
                if (written.add(id)) {
                    made.put(id, now);
                }
            }
        }

        Side pack(String... options) throws Exception {
            String[] gc = new String[options.length + 2];
            System.arraycopy(options, 0, gc, 0, options.length);
            gc[options.length] = "gc";
            gc[options.length + 1] = "-q";
            run(gc);
            return read();
        }

        Side read() throws Exception {
            packs = Packs.of(List.of(git.packPath()), git.opener());
            packs.readGraphs(List.of(Text.of("/.git/objects/")), packs::read);
            return this;
        }

        Text path(String ending) throws Exception {
            return Text.of("/.git/" + git.pack() + ending);
        }

        Path file(String ending) throws Exception {
            Path file = git.path(git.pack() + ending);
            assertTrue(file.toFile().setWritable(true));
            return file;
        }

        @Override
        public Set<String> written() {
            return written;
        }

        @Override
        public List<Window> made(String id) {
            Long at = made.get(id);
            return at == null ? List.of() : List.of(new Window(at * SECOND_NS, at * SECOND_NS));
        }

        @Override
        public @Nullable Window fileWritten(String commit, String path) {
            return null;
        }

        @Override
        public @Nullable GitObject read(String id) {
            return packs.read(id);
        }
    }

    /// What a side commits.
    @FunctionalInterface
    private interface Work {
        void on(Side side) throws Exception;
    }

    private Side side(String name, long start, Work work) throws Exception {
        Side side = Objects.requireNonNull(BEGUN.get(start)).copy(folder.resolve(name));
        work.on(side);
        return side;
    }

    private static final Work NOTHING = _ -> {};

    private static PackTies ties(Side one, Side other) throws Exception {
        return PackTies.of(one.packs, other.packs, ObjectProof.of(one, other));
    }

    private static void assertSame(Side one, Side other) throws Exception {
        PackTies ties = ties(one, other);
        assertEquals(1, ties.count());
        for (String ending : new String[] {".pack", ".idx"}) {
            assertTrue(ties.standFor(one.path(ending), other.path(ending)), ending);
            assertTrue(ties.areSame(one.path(ending), other.path(ending)), ending);
            assertFalse(ties.areSame(one.path(ending), other.path(".rev")), "another kind of file");
            assertFalse(ties.areSame(one.path(ending), one.path(ending)), "the recorded pack itself");
        }
        assertFalse(ties.areSame(one.path(".bitmap"), other.path(".bitmap")), "what is not understood");
        assertTrue(ties.areSame(GRAPH, GRAPH));
    }

    private static void assertOther(Side one, Side other, String why) throws Exception {
        PackTies ties = ties(one, other);
        assertEquals(0, ties.count(), why);
        assertFalse(ties.areSame(one.path(".pack"), other.path(".pack")), why);
        assertFalse(ties.standFor(one.path(".idx"), other.path(".idx")), why);
    }

    @Test
    void commitsOfAnotherSecondInAPackAreTheSame() throws Exception {
        Side one = side("one", A, NOTHING).pack();
        Side other = side("other", B, NOTHING).pack();
        PackTies ties = ties(one, other);
        assertSame(one, other);
        assertEquals(one.written.size(), ties.objects());
        Map<String, String> ids = ObjectProof.of(one, other).objects();
        assertEquals(5, ids.size(), "commits");
        assertTrue(one.git.loose().isEmpty(), "all in packs");
    }

    /// The same objects, and no id stands for another.
    @Test
    void otherDeltasMakeNoDifference() throws Exception {
        Side one = side("one", A, NOTHING).pack();
        Side other = side("other", A, NOTHING).pack("-c", "pack.window=0", "-c", "pack.compression=0");
        assertEquals(one.written, other.written);
        assertFalse(one.git.pack().equals(other.git.pack()));
        PackTies ties = ties(one, other);
        assertEquals(1, ties.count());
        assertTrue(ties.areSame(one.path(".pack"), other.path(".pack")));
        assertTrue(ties.areSame(one.path(".idx"), other.path(".idx")));
    }

    @Test
    void whatIsInOnePackAloneIsFound() throws Exception {
        Side one = side("one", A, NOTHING).pack();
        assertOther(one, side("blob", B, side -> extra(side, "x")).pack(), "an object more");
        assertOther(side("mirrored", B, side -> extra(side, "y")).pack(), one, "an object less");
        assertOther(
                side("x", A, side -> extra(side, "x")).pack(),
                side("z", B, side -> extra(side, "z")).pack(),
                "another object");
        assertOther(one, side("more", B, side -> last(side, "one more")).pack(), "a commit more");
    }

    private static void extra(Side side, String content) throws Exception {
        side.git.write("extra", content);
        side.run("add", "extra");
    }

    @Test
    void aCommitThatSaysSomethingElseIsFound() throws Exception {
        Work right = side -> last(side, "a message");
        Side one = side("one", A, right).pack();
        assertSame(one, side("right", B, right).pack());
        Side letter = side("letter", B, side -> last(side, "a massage")).pack();
        assertOther(one, letter, "one letter");
        PackTies ties = ties(one, letter);
        assertFalse(ties.areSame(GRAPH, GRAPH), "its graph");
        Side late = side("late", B, side -> {
                    side.now += 3_600;
                    side.run("commit", "-q", "--allow-empty", "-m", "a message");
                    side.written.forEach(id -> side.made.computeIfPresent(id, (_, at) -> Math.min(at, B + 60)));
                })
                .pack();
        assertOther(one, late, "a time at which it was not made");
    }

    private static void last(Side side, String message) throws Exception {
        side.run("commit", "-q", "--allow-empty", "-m", message);
    }

    /// One octet of any file beside or in the pack, with each digest made right.
    @Test
    void whatIsNotForItsPackIsFound() throws Exception {
        Side one = side("one", A, NOTHING).pack("-c", "pack.writeReverseIndex=true");
        Side other = side("other", B, NOTHING).pack("-c", "pack.writeReverseIndex=true");
        assertTrue(ties(one, other).areSame(one.path(".rev"), other.path(".rev")));
        for (String ending : new String[] {".idx", ".rev", ".pack"}) {
            Path file = other.file(ending);
            byte[] right = Files.readAllBytes(file);
            int step = Math.max(1, right.length / 60);
            for (int at = 0; at < right.length - 20; at += step) {
                Files.write(file, PackBytes.changed(right, at, 1));
                assertOther(one, other.read(), ending + ", octet " + at);
            }
            byte[] longer = PackBytes.joined(right, new byte[1]);
            Files.write(file, longer);
            assertOther(one, other.read(), ending + ", an octet more");
            Files.write(file, right);
        }
        assertEquals(1, ties(one, other.read()).count());
        Files.delete(other.file(".idx"));
        assertOther(one, other.read(), "no index");
    }

    @Test
    void aGraphThatIsNotForItsCommitsIsFound() throws Exception {
        Side one = side("one", A, NOTHING).pack();
        Side other = side("other", B, NOTHING).pack();
        Path file = other.git.path("objects/info/commit-graph");
        assertTrue(file.toFile().setWritable(true));
        byte[] right = Files.readAllBytes(file);
        assertTrue(ties(one, other).areSame(GRAPH, GRAPH));
        for (int at = 0; at < right.length - 20; at += 5) {
            Files.write(file, PackBytes.changed(right, at, 1));
            assertFalse(ties(one, other.read()).areSame(GRAPH, GRAPH), "octet " + at);
        }
        byte[] unsigned = right.clone();
        unsigned[right.length - 1] ^= 1;
        Files.write(file, unsigned);
        assertFalse(ties(one, other.read()).areSame(GRAPH, GRAPH), "its digest");
        other.run("-c", "commitGraph.generationVersion=1", "commit-graph", "write", "--reachable");
        assertFalse(ties(one, other.read()).areSame(GRAPH, GRAPH), "without corrected times");
        one.run("-c", "commitGraph.generationVersion=1", "commit-graph", "write", "--reachable");
        assertTrue(ties(one.read(), other).areSame(GRAPH, GRAPH), "both without");
    }

    /// A graph whose header announces any number must not cost more than its octets.
    @Test
    void aGraphThatClaimsToBeLargeIsNone() throws Exception {
        Packs none = Packs.of(List.of(), _ -> null);
        byte[] graph = new byte[8 + 60 + 1024 + 20];
        graph[6] = 4;
        for (int count : new int[] {-1, 0, Integer.MAX_VALUE, CommitGraph.COMMITS_MAX + 1, 1}) {
            ByteBuffer.wrap(graph).putInt(8 + 60 + 1020, count);
            Packs packs = Packs.of(List.of(), _ -> new ByteArrayInputStream(graph));
            packs.readGraphs(List.of(Text.of("/.git/objects/")), none::read);
            assertTrue(packs.known().graphs().isEmpty(), "a count of " + count);
        }
    }

    @Test
    void packsAreBoundedTogether() throws Exception {
        Side one = side("one", A, NOTHING).pack();
        Packs enough = Packs.of(List.of(one.git.packPath()), one.git.opener(), 1 << 20);
        assertEquals(1, enough.known().objects().size());
        Packs little = Packs.of(List.of(one.git.packPath()), one.git.opener(), 1 << 12);
        assertEquals(0, little.known().objects().size());
    }
}
