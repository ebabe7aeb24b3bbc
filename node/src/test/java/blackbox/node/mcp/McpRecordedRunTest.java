package blackbox.node.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
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

    private static final String RULE = """
            title: a program of a number
            id: numbered
            level: low
            logsource: {product: linux, category: process_creation}
            detection: {numbered: {Image|startswith: /opt/numbered/}, condition: numbered}
            """;

    @TempDir
    Path data;

    private McpEndpoint endpoint;
    private TestRun run;
    private int asked;
    private long sequence;

    @BeforeEach
    void record() throws Exception {
        TestLog log = new TestLog(data.resolve("log")).begin();
        run = TestRun.certified(data, log);
        run.open(
                "talker",
                run.certificate(log.key),
                recorder -> recorder.put("version", "1").put("key", "k").put("outputBytesMax", 1 << 20));
        for (int i = 0; i < PROGRAMS; i++) {
            var origin = new GuestOrigin(0, ++sequence, Actor.AGENT);
            var header = new EventHeader(
                    run.tick(), Source.GUEST, origin, TestEvents.process(100 + i, 1, "task"), Marks.NONE);
            Text program = Text.of("/opt/numbered/" + i + " \u202e");
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
    void aRuleOfOnesOwnFindsWhatItHoldsOf() throws Exception {
        JsonNode some = answer("hunt", Map.of("rules", RULE));
        assertEquals(100, some.path("matches").size(), some::toString);
        assertFalse(some.path("complete").asBoolean(true), "there are more");
        JsonNode all = answer("hunt", Map.of("rules", RULE, "limit", 1_000, "run", "last"));
        assertEquals(PROGRAMS, all.path("matches").size(), all::toString);
        assertTrue(all.path("complete").asBoolean(), all::toString);
        JsonNode first = all.path("matches").path(0);
        assertEquals(run.run.value(), first.path("run").asText());
        assertEquals("numbered", first.path("rule").path("id").asText());
        JsonNode event = answer(
                        "events",
                        Map.of("run", "last", "index", first.path("index").asLong(), "limit", 1))
                .path("events")
                .path(0);
        assertEquals("/opt/numbered/0 \u202e", event.path("exe").asText(), event::toString);
    }

    @Test
    void theRulesThatComeAlongAreTheDefault() throws Exception {
        JsonNode found = answer("hunt", Map.of());
        assertTrue(found.path("rules").asInt() > 5, found::toString);
        assertTrue(found.path("complete").asBoolean(), found::toString);
        assertTrue(found.path("digest").asText().length() >= 64, found::toString);
    }

    @Test
    void whatIsNoRuleIsRefused() throws Exception {
        assertTrue(refusal("hunt", Map.of("rules", "title: [")).contains("YAML"));
        assertTrue(refusal("hunt", Map.of("rules", "")).contains("no rule"));
        assertTrue(refusal("hunt", Map.of("rules", RULE.replace("product: linux", "product: windows")))
                .contains("windows"));
        assertTrue(refusal("hunt", Map.of("rules", "/etc/passwd")).contains("mapping"), "a text, and no file's name");
        assertTrue(refusal("hunt", Map.of("run", "nobody")).contains("nobody"));
    }

    /// What is still in the spool is said not to be looked at.
    @Test
    void whatIsNotInTheTableIsALimit() throws Exception {
        var other = new TestRun(data, new RunId("1".repeat(26)), run.key);
        other.open("in the spool");
        other.close(0);
        other.spool(0, other.batches.size());
        JsonNode found = answer("hunt", Map.of("rules", RULE));
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
}
