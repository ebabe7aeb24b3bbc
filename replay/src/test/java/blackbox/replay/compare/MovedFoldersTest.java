package blackbox.replay.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.content.Window;
import blackbox.replay.divergence.Alignment;
import blackbox.replay.divergence.AlignmentSettings;
import blackbox.replay.divergence.Divergences;
import blackbox.replay.divergence.RecordedEvents;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.files.CleanDisk;
import blackbox.replay.files.RecordedFiles;
import blackbox.replay.files.TestDisk;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files take along when they were written, also where a folder above them is renamed, as `pip install --target` does.
class MovedFoldersTest {
    private static final long SECOND_NS = 1_000_000_000;
    private static final long MINUTE_NS = 60 * SECOND_NS;

    @TempDir
    Path folder;

    private int disks;

    /// What one side has done: installs a module in a folder of a made-up name, which it moves to its place later.
    ///
    /// @param late how much later than its source's writing the compiled module says
    private ComparedFiles.Left installs(long seed, long late) throws Exception {
        var events = new RecordedEvents(seed).open();
        Guest pip = events.fork(events.init, "pip");
        events.exec(pip, "/bin/pip", "install", "m");
        String made = "/tmp/target-" + events.newSuffix();
        events.pass(MINUTE_NS + seed * SECOND_NS);
        events.create(pip, made + "/p/m.py", RecordedEvents.WRITE_CREATE);
        events.write(pip, made + "/p/m.py", 7);
        long source = events.nowNs() / SECOND_NS;
        events.pass(MINUTE_NS);
        events.create(pip, made + "/p/__pycache__/m.cpython-311.pyc", RecordedEvents.WRITE_CREATE);
        events.write(pip, made + "/p/__pycache__/m.cpython-311.pyc", 20);
        events.name(pip, Kind.FILE_RENAME, made + "/p", "/lib/p");
        events.exit(pip, 0);
        events.close();
        String compiled = new String(
                ByteBuffer.allocate(20)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(0x0a0d0da7)
                        .putInt(0)
                        .putInt((int) (source + late))
                        .putInt(7)
                        .put("code".getBytes(StandardCharsets.US_ASCII))
                        .array(),
                StandardCharsets.ISO_8859_1);
        var disk = new TestDisk(folder);
        Path image = disk.make(
                "disk" + disks++,
                List.of(
                        "mkdir lib",
                        "mkdir lib/p",
                        "mkdir lib/p/__pycache__",
                        disk.write("lib/p/m.py", "x = 1\n\n"),
                        disk.write("lib/p/__pycache__/m.cpython-311.pyc", compiled)));
        return new ComparedFiles.Left(
                () -> new RecordedFiles.Known(CleanDisk.open(image)), RecordedEvents.source(events.events()));
    }

    private static Alignment compare(ComparedFiles.Left one, ComparedFiles.Left other) throws Exception {
        try (var files = new ComparedFiles(one, other)) {
            return Divergences.align(
                    new Side("one", one.events(), RunInputs.UNKNOWN),
                    new Side("other", other.events(), RunInputs.UNKNOWN),
                    files,
                    AlignmentSettings.of(7));
        }
    }

    @Test
    void aCompiledModuleIsOfTheSecondInWhichItsSourceWasWritten() throws Exception {
        Alignment same = compare(installs(1, 0), installs(2, 0));
        assertEquals(
                List.of(),
                same.differences().shownEffects().stream()
                        .filter(effect -> effect.subject().startsWith("/lib"))
                        .toList());
        Alignment wrong = compare(installs(1, 0), installs(2, 30));
        assertTrue(
                wrong.differences().shownEffects().stream()
                        .anyMatch(effect -> effect.subject().equals("/lib/p/__pycache__/m.cpython-311.pyc")),
                wrong::toString);
    }

    private static @Nullable Window window(RecordedEvents events, String path) throws Exception {
        return WriteTimes.of(events.source()).window(Text.of(path));
    }

    @Test
    void whatIsBelowAFolderMovesWithIt() throws Exception {
        var events = new RecordedEvents(3).open();
        Guest shell = events.fork(events.init, "sh");
        events.writeFile(shell, "/a/b/c", 1);
        long written = events.nowNs();
        events.pass(MINUTE_NS);
        events.writeFile(shell, "/z/b/old", 1);
        events.pass(MINUTE_NS);
        events.name(shell, Kind.FILE_RENAME, "/a", "/z");
        Window moved = window(events, "/z/b/c");
        assertNotNull(moved);
        assertTrue(moved.toNs() <= written + SECOND_NS, moved::toString);
        assertNull(window(events, "/a/b/c"), "it is no longer there");
        assertNull(window(events, "/z/b/old"), "a folder that is renamed over is empty");
        events.pass(MINUTE_NS);
        events.writeFile(shell, "/a/b/c", 1);
        assertEquals(moved, window(events, "/z/b/c"));
        Window again = window(events, "/a/b/c");
        assertNotNull(again);
        assertTrue(again.fromNs() >= written + 3 * MINUTE_NS, again::toString);
    }

    @Test
    void aFolderThatIsRenamedOverIsEmptyAlsoIfNothingIsKnownOfTheOther() throws Exception {
        var events = new RecordedEvents(4).open();
        Guest shell = events.fork(events.init, "sh");
        events.writeFile(shell, "/z/b/old", 1);
        events.name(shell, Kind.FILE_RENAME, "/a", "/z");
        assertNull(window(events, "/z/b/old"));
    }

    /// A guest may say what cannot be.
    @Test
    void aFolderThatIsMovedIntoItselfStaysWhereItIs() throws Exception {
        for (List<String> names : List.of(List.of("/a", "/a/b"), List.of("/a/b", "/a"), List.of("/a", "/a"))) {
            var events = new RecordedEvents(5).open();
            Guest shell = events.fork(events.init, "sh");
            events.writeFile(shell, "/a/b/c", 1);
            events.name(shell, Kind.FILE_RENAME, names.getFirst(), names.getLast());
            assertNotNull(window(events, "/a/b/c"), names::toString);
        }
        var events = new RecordedEvents(5).open();
        Guest shell = events.fork(events.init, "sh");
        events.writeFile(shell, "/ab/c", 1);
        events.name(shell, Kind.FILE_RENAME, "/ab", "/a");
        assertNotNull(window(events, "/a/c"), "a name that begins with the other one");
    }

    /// Renaming a folder costs the same, however much it holds: copies of its names would fill the memory.
    @Test
    void aFullFolderIsRenamedOften() throws Exception {
        var events = new RecordedEvents(6).open();
        Guest shell = events.fork(events.init, "sh");
        for (int i = 0; i < 1_000; i++) {
            events.write(shell, "/f0/" + i, 1);
        }
        for (int i = 0; i < 20_000; i++) {
            events.name(shell, Kind.FILE_RENAME, "/f" + i, "/f" + (i + 1));
        }
        assertNotNull(window(events, "/f20000/999"));
    }
}
