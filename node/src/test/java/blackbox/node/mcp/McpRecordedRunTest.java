package blackbox.node.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.files.ProcessLock;
import blackbox.recorder.capture.CaptureFile;
import blackbox.recorder.capture.KeptOutput;
import blackbox.recorder.capture.PrintedStream;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What agents ask of a run that is in the table, with what its command printed.
class McpRecordedRunTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int PROGRAMS = 150;

    /// In JSON each of its characters takes six.
    private static final String ESCAPES = "\u0001".repeat(200_000);

    /// A rule that comes along, of programs in folders for temporary files.
    private static final String RULE = "e68aaa39-8623-4946-8dca-a2300ea73fee";

    @TempDir
    Path data;

    private McpEndpoint endpoint;
    private TestLog log;
    private TestRun run;
    private int asked;
    private long sequence;

    @BeforeEach
    void record() throws Exception {
        log = new TestLog(data.resolve("log")).begin();
        run = TestRun.certified(data, log);
        run.open(
                "talker",
                run.certificate(log.key),
                recorder -> recorder.put("version", "1").put("key", "k").put("outputBytesMax", 1 << 20));
        for (int i = 0; i < PROGRAMS; i++) {
            var origin = new GuestOrigin(0, ++sequence, Actor.AGENT);
            var header = new EventHeader(
                    run.tick(), Source.GUEST, origin, TestEvents.process(100 + i, 1, "task"), Marks.NONE);
            Text program = Text.of("/tmp/numbered/" + i + " \u202e");
            run.add(new Event.ProcessExec(header, program, List.of(program), List.of(), Text.of("/"), 0));
        }
        print();
        run.close(0);
        run.table();
        endpoint = new McpEndpoint(
                Recordings.unchecked(data),
                _ -> {
                    throw new IllegalStateException("nothing is verified here");
                },
                new SecureRandom());
    }

    private void print() throws Exception {
        Path folder = Files.createDirectories(new DataFolder(data).captures(run.run));
        var clock = new AtomicLong(TestRun.START_NS);
        try (var kept = new KeptOutput(folder, 1 << 20, () -> clock.addAndGet(1_000_000_000L))) {
            for (String piece : List.of("recorded 0000 ends\n\u202e", "oops\n", ESCAPES, "end\n")) {
                PrintedStream stream = piece.equals("oops\n") ? PrintedStream.STDERR : PrintedStream.STDOUT;
                kept.through(stream, OutputStream.nullOutputStream()).write(piece.getBytes(StandardCharsets.UTF_8));
            }
            kept.through(PrintedStream.STDERR, OutputStream.nullOutputStream()).write(0xff);
            for (CaptureFile file : kept.files()) {
                file.sealNew(run::tick).forEach(run::add);
            }
        }
    }

    @AfterEach
    void close() {
        endpoint.close();
    }

    private JsonNode call(boolean isError, String tool, Map<String, ?> arguments) throws Exception {
        String message = JSON.writeValueAsString(Map.of(
                "jsonrpc",
                "2.0",
                "id",
                ++asked,
                "method",
                "tools/call",
                "params",
                Map.of("name", tool, "arguments", arguments)));
        JsonNode result =
                JSON.readTree(Objects.requireNonNull(endpoint.answer(message))).path("result");
        assertEquals(isError, result.path("isError").asBoolean(), result::toString);
        String text = result.path("content").path(0).path("text").asText();
        assertTrue(text.chars().allMatch(each -> each == '\n' || each >= ' ' && each <= '~'), text);
        return JSON.readTree(text.substring(text.indexOf('{'), text.lastIndexOf('}') + 1));
    }

    private JsonNode answer(String tool, Map<String, ?> arguments) throws Exception {
        return call(false, tool, arguments);
    }

    private String refusal(String tool, Map<String, ?> arguments) throws Exception {
        return call(true, tool, arguments).path("error").asText();
    }

    @Test
    void theRulesThatComeAlongFindWhatTheyHoldOf() throws Exception {
        JsonNode some = answer("hunt", Map.of());
        assertEquals(100, some.path("matches").size(), some::toString);
        assertFalse(some.path("complete").asBoolean(true), "there are more");
        JsonNode all = answer("hunt", Map.of("limit", 1_000, "run", "last"));
        assertEquals(PROGRAMS, all.path("matches").size(), all::toString);
        assertTrue(all.path("complete").asBoolean(), all::toString);
        JsonNode first = all.path("matches").path(0);
        assertEquals(run.run.value(), first.path("run").asText());
        assertEquals(RULE, first.path("rule").path("id").asText());
        JsonNode event = answer(
                        "events",
                        Map.of("run", "last", "index", first.path("index").asLong(), "limit", 1))
                .path("events")
                .path(0);
        assertEquals("/tmp/numbered/0 \u202e", event.path("exe").asText(), event::toString);
    }

    @Test
    void rulesOfOnesOwnAreRefused() throws Exception {
        assertTrue(refusal("hunt", Map.of("rules", "title: x")).contains("no argument 'rules'"));
        assertTrue(refusal("hunt", Map.of("run", "nobody")).contains("nobody"));
    }

    /// What is still in the spool is said not to be looked at.
    @Test
    void whatIsNotInTheTableIsALimit() throws Exception {
        var other = new TestRun(data, new RunId("1".repeat(26)), run.key);
        other.open("in the spool");
        other.close(0);
        other.spool(0, other.batches.size());
        JsonNode found = answer("hunt", Map.of());
        assertEquals(1, found.path("limits").size(), found::toString);
        assertTrue(found.path("limits").path(0).asText().startsWith(other.run.value()), found::toString);
    }

    @Test
    void whatWasPrintedComesInPages() throws Exception {
        JsonNode all = answer("output", Map.of("run", "last", "limit", 2));
        assertEquals(
                "recorded 0000 ends\n\u202e",
                all.path("pieces").path(0).path("text").asText());
        assertEquals("stderr", all.path("pieces").path(1).path("stream").asText());
        assertEquals(2, all.path("next").asInt(), all::toString);
        assertTrue(all.path("limits").isMissingNode(), "who has not seen all knows nothing of its end");
        JsonNode escapes = answer("output", Map.of("run", "last", "piece", 2));
        byte[] octets = Base64.getDecoder()
                .decode(escapes.path("pieces").path(0).path("base64").asText());
        assertEquals(ESCAPES, new String(octets, StandardCharsets.UTF_8));
        assertEquals(22, escapes.path("pieces").path(0).path("octet").asInt(), escapes::toString);
        JsonNode rest = answer(
                "output", Map.of("run", "last", "piece", escapes.path("next").asInt()));
        assertEquals("end\n", rest.path("pieces").path(0).path("text").asText());
        assertEquals("/w==", rest.path("pieces").path(1).path("base64").asText());
        assertTrue(rest.path("next").isNull(), rest::toString);
        for (JsonNode limit : rest.path("limits")) {
            assertEquals("UNSEALED", limit.path("kind").asText(), "no recorder saw the streams' ends here");
        }
        assertEquals(2, rest.path("limits").size(), rest::toString);
        assertEquals(
                200_026,
                rest.path("streams").path(0).path("bytes").asInt(),
                "of all pieces, also those of the pages before");
    }

    @Test
    void oneStreamOfWhatWasPrinted() throws Exception {
        JsonNode errors = answer("output", Map.of("run", "last", "streams", List.of("stderr")));
        assertEquals(2, errors.path("pieces").size(), errors::toString);
        assertEquals(5, errors.path("pieces").path(1).path("octet").asInt(), errors::toString);
        assertTrue(refusal("output", Map.of("run", "last", "streams", List.of("stdin")))
                .contains("not a stream"));
    }

    /// One stream is sealed after the other: a page must not go on behind a piece that is still to come.
    @Test
    void whatIsSealedLateIsOnTheNextPage() throws Exception {
        TestRun live = TestRun.certified(data, log, new RunId("1".repeat(26)));
        live.open(
                "live",
                live.certificate(log.key),
                recorder -> recorder.put("version", "1").put("key", "k").put("outputBytesMax", 1 << 20));
        Path folder = Files.createDirectories(new DataFolder(data).captures(live.run));
        var clock = new AtomicLong(TestRun.START_NS);
        try (ProcessLock _ = live.lock();
                var kept = new KeptOutput(folder, 1 << 20, () -> clock.addAndGet(1_000_000_000L))) {
            for (PrintedStream stream : List.of(PrintedStream.STDOUT, PrintedStream.STDERR, PrintedStream.STDOUT)) {
                kept.through(stream, OutputStream.nullOutputStream()).write('x');
            }
            for (PrintedStream sealed : List.of(PrintedStream.STDOUT, PrintedStream.STDERR)) {
                for (CaptureFile file : kept.files()) {
                    if (file.name().equals(sealed.word())) {
                        file.sealNew(live::tick).forEach(live::add);
                    }
                }
                live.seal();
                live.spool(live.batches.size() - 1, live.batches.size());
                boolean first = sealed == PrintedStream.STDOUT;
                JsonNode page = answer("output", Map.of("run", live.run.value(), "piece", first ? 0 : 1));
                assertEquals(first ? 1 : 2, page.path("pieces").size(), page::toString);
                assertEquals(first ? 1 : 3, page.path("next").asInt(), page::toString);
                assertTrue(page.path("live").asBoolean(), page::toString);
            }
        }
    }
}
