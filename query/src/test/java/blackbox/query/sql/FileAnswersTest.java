package blackbox.query.sql;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.query.answer.Touched;
import blackbox.query.answer.TouchedCollector;
import blackbox.schemas.event.AllocationMode;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Protection;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `touched` and SQL's `files` are asked the same of every call that a file can meet.
class FileAnswersTest {

    private static final int O_TRUNC = 01000;
    private static final int O_PATH = 010000000;

    @TempDir
    Path folder;

    private TestRun run;
    private TestEvents events;
    private int cases;

    @BeforeEach
    void open() throws Exception {
        run = new TestRun(folder.resolve("data"));
        events = new TestEvents(run);
        run.open("files");
    }

    private EventHeader header() {
        return events.guest(100, 1, "cc");
    }

    private Text path(String what) {
        return Text.of("/case/" + cases++ + "-" + what);
    }

    private Text opened(String what, long flags, boolean created, long ret) {
        Text path = path(what);
        run.add(new Event.FileOpen(header(), path, flags, null, created, ret));
        return path;
    }

    private void folded(String what, long bytesRead, long bytesWritten, long reads, long writes, @Nullable Long ret) {
        run.add(new Event.FileIo(header(), path(what), bytesRead, bytesWritten, reads, writes, null, null, ret));
    }

    private void change(Kind kind, long ret) {
        if (kind == Kind.FILE_MMAP) {
            run.add(new Event.FileMap(header(), path(kind.eventName()), new Protection(3), ret));
            return;
        }
        if (kind == Kind.FILE_ALLOCATE) {
            run.add(new Event.FileAllocate(header(), path(kind.eventName()), 5L, new AllocationMode(3), ret));
            return;
        }
        Text to = kind == Kind.FILE_RENAME || kind == Kind.FILE_LINK || kind == Kind.FILE_SYMLINK ? path("to") : null;
        run.add(new Event.FileChange(header(), kind, path(kind.eventName()), to, 0600, 1, 1, 5L, ret));
    }

    /// renameat2 with RENAME_EXCHANGE.
    private void exchange(Text one, Text other, long ret) {
        run.add(new Event.FileChange(header(), Kind.FILE_RENAME, one, other, null, null, null, 2L, ret));
    }

    private Map<String, Touched.FileDeeds> touched() throws Exception {
        var deeds = new HashMap<String, Touched.FileDeeds>();
        for (Touched.FileUse use : TouchedCollector.collect(Recordings.unchecked(run.data), run.run)
                .files()) {
            deeds.put(use.path().toString(), use.deeds());
        }
        return deeds;
    }

    private JsonNode files() throws Exception {
        var text = new StringWriter();
        try (SqlEngine engine = SqlEngine.open(Recordings.unchecked(run.data), SqlLimits.DEFAULT);
                JsonGenerator out = new JsonFactory().createGenerator(text)) {
            engine.select("SELECT * FROM files", new JsonResult(out));
        }
        return new ObjectMapper().readTree(text.toString());
    }

    @Test
    void everyCallIsAnsweredAlike() throws Exception {
        for (long ret : new long[] {0, 3, -2}) {
            for (long flags : new long[] {0, 1, 2, O_TRUNC, O_TRUNC | 1, O_TRUNC | O_PATH}) {
                opened("open", flags, false, ret);
                opened("made", flags | 0100, true, ret);
            }
            for (int counts = 0; counts < 16; counts++) {
                folded("io", counts & 1, counts >> 1 & 1, counts >> 2 & 1, counts >> 3, ret);
            }
            for (Kind kind : Kind.values()) {
                if (isChange(kind)) {
                    change(kind, ret);
                }
            }
            exchange(path("one"), path("other"), ret);
            exchange(Text.of("tmpfs[0:45]/one" + ret), Text.of("tmpfs[0:45]/other" + ret), ret);
        }
        folded("io", 4, 0, 1, 0, null);
        run.add(new Event.FileClose(header(), path("close"), null));
        run.close(0);
        run.table();
        Map<String, Touched.FileDeeds> touched = touched();
        JsonNode files = files();
        assertEquals(touched.size(), files.size());
        assertTrue(touched.size() > 90, touched.size() + " paths");
        for (JsonNode file : files) {
            String path = file.path("path").asText();
            var said = new Touched.FileDeeds(
                    file.path("opened").asBoolean(),
                    file.path("read").asBoolean(),
                    file.path("written").asBoolean(),
                    file.path("created").asBoolean(),
                    file.path("deleted").asBoolean(),
                    file.path("attributes_changed").asBoolean(),
                    file.path("mapped_for_writing").asBoolean());
            assertEquals(touched.get(path), said, path);
        }
        for (String path : List.of("tmpfs[0:45]/one0", "tmpfs[0:45]/other0")) {
            var deeds = requireNonNull(touched.get(path), path);
            assertTrue(deeds.written() && !deeds.deleted() && !deeds.created(), path + ": " + deeds);
        }
    }

    /// An attribute's value is a detail, too.
    @Test
    void onlyWhatIsReachedThroughMountsOfTheAgentsIsALimit() throws Exception {
        run.add(new Event.FileXattr(header(), path("attribute"), Text.of("user.note"), false, "{\"bytes\":4}", 0));
        EventHeader header = header();
        GuestOrigin origin = requireNonNull(header.origin());
        var elsewhere =
                new GuestOrigin(origin.cpu(), origin.cpuSeq(), origin.actor(), "{\"mountNamespace\":4026532200}", 0);
        run.add(new Event.FileClose(
                new EventHeader(header.atNs(), header.source(), elsewhere, header.process(), header.marks()),
                path("elsewhere"),
                null));
        run.close(0);
        run.table();
        List<String> limits = TouchedCollector.collect(Recordings.unchecked(run.data), run.run)
                .limits();
        assertTrue(limits.stream().anyMatch(each -> each.startsWith("1 acts on files were")), limits::toString);
    }

    private static boolean isChange(Kind kind) {
        return kind.eventName().startsWith("file.")
                && kind != Kind.FILE_OPEN
                && kind != Kind.FILE_CLOSE
                && kind != Kind.FILE_IO;
    }

    @Test
    void openingToEmptyIsWritingUnlessTheFileIsNewOrOnlyItsPathIsOpened() throws Exception {
        Text emptied = opened("emptied", O_TRUNC | 1, false, 3);
        Text made = opened("made", O_TRUNC | 0101, true, 3);
        Text pathOnly = opened("path", O_TRUNC | O_PATH, false, 3);
        Text refused = opened("refused", O_TRUNC | 1, false, -13);
        run.close(0);
        run.table();
        Map<String, Touched.FileDeeds> touched = touched();
        var opened = new Touched.FileDeeds(true, false, false, false, false, false, false);
        assertEquals(
                Map.of(
                        emptied.toString(), new Touched.FileDeeds(true, false, true, false, false, false, false),
                        made.toString(), new Touched.FileDeeds(true, false, false, true, false, false, false),
                        pathOnly.toString(), opened),
                touched);
        assertFalse(touched.containsKey(refused.toString()));
    }
}
