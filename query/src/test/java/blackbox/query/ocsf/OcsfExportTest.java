package blackbox.query.ocsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.query.answer.Programs;
import blackbox.query.export.EventExport;
import blackbox.query.export.JsonLines;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.ColumnType;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventViews;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// That what is written is OCSF 1.8, by [OcsfSchema], and says of an event what it is.
class OcsfExportTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    static final RunId RUN = new RunId("01kaj3v4e00000000000000000");
    private static final int ROWS_OF_EACH = 300;

    private static final List<String> DETAILS = List.of(
            "{\"stage\":\"http\",\"rule\":\"r1\",\"reason\":\"no\"}",
            "{\"method\":\"POST\",\"target\":\"/v1?a=b\",\"scheme\":\"https\",\"protocol\":\"h2\",\"status\":200,"
                    + "\"firstNs\":2000000,\"durationNs\":3000000}",
            "{\"method\":\"BREW\",\"target\":\"*\",\"status\":0,\"firstNs\":null,\"durationNs\":1e99}",
            "{\"status\":\"many\",\"firstNs\":-1,\"durationNs\":99999999999999999999999}",
            "{\"status\":99999999999}",
            "{\"provider\":\"anthropic\",\"requestModel\":\"m\",\"responseModel\":null,\"inputTokens\":3,"
                    + "\"outputTokens\":99999999999,\"status\":200}",
            "{\"provider\":7,\"requestModel\":[],\"inputTokens\":-1}",
            "{\"number\":7,\"role\":\"viewer\",\"token\":\"t1\",\"run\":\"01kaj3v4e00000000000000001\",\"status\":404,"
                    + "\"tookNs\":5000000}",
            "{\"number\":-1e9,\"token\":[],\"run\":7,\"refused\":401,\"tookNs\":1e99}",
            "{\"count\":12}",
            "{\"user\":\"root\",\"outcome\":\"done\",\"reason\":\"it spins\"}",
            "{\"user\":null,\"outcome\":\"failed\"}",
            "[]",
            "not JSON");
    private static final List<String> WORDS = List.of(
            "pause",
            "resume",
            "kill",
            "open",
            "closed",
            "reset",
            "allow",
            "deny",
            "would-deny",
            "refused",
            "",
            "x\u0000\ud83d");

    @TempDir
    Path folder;

    /// Rows of every kind with any columns, as a hostile guest or a newer version may have sealed them.
    @Test
    void whateverARowHoldsTheLineIsOcsf() throws Exception {
        var random = new Random(1_800);
        var schema = new OcsfSchema();
        var events = new OcsfEvents(RUN, new Programs());
        var views = new EventViews();
        var classes = new TreeSet<Integer>();
        Set<String> faults = new HashSet<>();
        for (Kind kind : Kind.values()) {
            for (int i = 0; i < ROWS_OF_EACH; i++) {
                ObjectNode event = events.of(views.of(row(kind, random, i)), i);
                JsonNode read = JSON.readTree(JSON.writeValueAsString(event));
                classes.add(read.path("class_uid").asInt());
                faults.addAll(schema.faults(read));
                assertEquals(
                        kind.eventName(),
                        read.path("metadata").path("event_code").asText());
            }
        }
        assertEquals(Set.of(), faults);
        assertEquals(Set.of(0, 1001, 1007, 2004, 4001, 4002, 4003, 6002, 6003, 7003), classes);
    }

    /// A value that no attribute has is in `unmapped`.
    @Test
    void noValueIsLeftOut() throws Exception {
        var events = new OcsfEvents(RUN, new Programs());
        var views = new EventViews();
        for (Kind kind : Kind.values()) {
            var row = new Row().set(Column.KIND, kind.code()).set(Column.AT_NS, TestRun.START_NS);
            for (Column column : Column.values()) {
                switch (column.type()) {
                    case INT, LONG -> {
                        if (column != Column.KIND && column != Column.AT_NS && column != Column.SOURCE) {
                            row.set(column, 10_000 + column.fieldId());
                        }
                    }
                    case STRING ->
                        row.set(column, column == Column.DETAIL ? "{\"d\":\"v53v\"}" : "v" + column.fieldId() + "v");
                    case STRING_LIST -> row.set(column, List.of(Text.of("v" + column.fieldId() + "v")));
                    case BYTES -> row.set(column, new byte[] {0x51, 0x51}, 0, 2);
                }
            }
            String line = JSON.writeValueAsString(events.of(views.of(row), 1));
            for (Column column : Column.values()) {
                String value = switch (column.type()) {
                    case INT, LONG -> Integer.toString(10_000 + column.fieldId());
                    case BYTES -> "5151";
                    default -> "v" + column.fieldId() + "v";
                };
                boolean isTold = column == Column.KIND || column == Column.AT_NS || column == Column.SOURCE;
                assertTrue(isTold || line.contains(value), () -> column + " of " + kind + " is not in " + line);
            }
        }
    }

    /// The answer's event knows what was asked, by the number.
    @Test
    void aRequestAndItsAnswerAreCallsOfTheApi() throws Exception {
        var events = new OcsfEvents(RUN, new Programs());
        JsonNode asked = accessed(
                events,
                Kind.ACCESS_REQUEST,
                "GET /api/v1/runs/{run}",
                "{\"number\":3,\"role\":\"viewer\",\"token\":\"t1\",\"run\":\"01kaj3v4e00000000000000001\"}");
        JsonNode answered =
                accessed(events, Kind.ACCESS_ANSWER, "complete", "{\"number\":3,\"status\":200,\"tookNs\":4000000}");
        for (JsonNode each : List.of(asked, answered)) {
            assertEquals(6003_02, each.path("type_uid").asInt());
            assertEquals("ann", each.path("actor").path("user").path("name").asText());
            assertEquals(
                    "GET /api/v1/runs/{run}", each.path("api").path("operation").asText());
            assertEquals("3", each.path("api").path("request").path("uid").asText());
            assertEquals("127.0.0.1", each.path("src_endpoint").path("ip").asText());
            assertEquals(
                    "01kaj3v4e00000000000000001",
                    each.path("resources").path(0).path("uid").asText());
        }
        assertFalse(asked.has("status_id"));
        assertEquals(1, answered.path("status_id").asInt());
        assertEquals(200, answered.path("api").path("response").path("code").asInt());
        assertEquals(4, answered.path("duration").asInt());
        JsonNode cut = accessed(events, Kind.ACCESS_ANSWER, "cut", "{\"number\":4,\"status\":0,\"tookNs\":1}");
        assertEquals(0, cut.path("status_id").asInt(-1));
        assertFalse(cut.has("status_code") || cut.path("api").has("response"), cut::toString);
        JsonNode half = accessed(events, Kind.ACCESS_ANSWER, "cut", "{\"number\":4,\"status\":200}");
        assertEquals(0, half.path("status_id").asInt(-1));
        JsonNode refused = accessed(events, Kind.ACCESS_REQUEST, "GET /api/v1/runs", "{\"refused\":401}");
        assertEquals("401", refused.path("status_code").asText());
        JsonNode counted = accessed(events, Kind.ACCESS_REQUEST, "refused", "{\"count\":1234}");
        assertEquals(2, counted.path("status_id").asInt());
        assertEquals(1_234, counted.path("count").asInt());
        JsonNode stranger =
                accessed(events, Kind.ACCESS_ANSWER, "complete", "{\"number\":3,\"status\":500,\"tookNs\":1}");
        assertEquals("not recorded", stranger.path("api").path("operation").asText());
        assertEquals(2, stranger.path("status_id").asInt());
    }

    /// A number that an older request had, too, is the newer one's; more about a request is about that.
    @Test
    void anAnswerIsOfTheRequestLastAskedUnderItsNumber() throws Exception {
        var events = new OcsfEvents(RUN, new Programs());
        accessed(events, Kind.ACCESS_REQUEST, "GET /api/v1/runs", "{\"number\":7,\"token\":\"a\"}");
        accessed(events, Kind.ACCESS_REQUEST, "POST /api/v1/runs/{run}/kill", "{\"number\":7,\"token\":\"b\"}");
        accessed(events, Kind.ACCESS_REQUEST, "kill", "{\"number\":7,\"run\":\"01kaj3v4e00000000000000001\"}");
        JsonNode answered = accessed(events, Kind.ACCESS_ANSWER, "complete", "{\"number\":7,\"status\":200}");
        assertEquals(
                "POST /api/v1/runs/{run}/kill",
                answered.path("api").path("operation").asText());
        assertEquals("POST", answered.path("activity_name").asText());
        assertEquals(
                "b", answered.path("actor").path("user").path("credential_uid").asText());
        assertEquals(
                "01kaj3v4e00000000000000001",
                answered.path("resources").path(0).path("uid").asText());
        accessed(events, Kind.ACCESS_REQUEST, "GET /a", "{\"number\":8}");
        accessed(events, Kind.ACCESS_REQUEST, "GET /" + "a".repeat(1_000), "{\"number\":8}");
        assertEquals(
                "not recorded",
                accessed(events, Kind.ACCESS_ANSWER, "complete", "{\"number\":8,\"status\":200}")
                        .path("api")
                        .path("operation")
                        .asText());
    }

    /// What JSON of ours would say otherwise is the text that it was.
    @Test
    void aDetailIsGivenBackAsItIs() throws Exception {
        var details = new ArrayList<>(List.of(
                "{\"a\":1,\"a\":2}",
                "{\"a\":1} trailing",
                "{\"a\":1}{\"b\":2}",
                "{\"a\":\"\\ud83d\"}",
                "null",
                "{\"a\":1e400}",
                "{\"a\":NaN}",
                "",
                "{\"a\":0.12345678901234567890}",
                "{\"a\":1.50}",
                "{\"a\":1E+999999999}",
                "{\"a\":123456789012345678901234567890}",
                "[null]"));
        for (int depth = 895; depth <= 1_005; depth++) {
            details.add("[".repeat(depth) + "]".repeat(depth));
        }
        var events = new OcsfEvents(RUN, new Programs());
        int objects = 0;
        for (String detail : details) {
            var row = new Row()
                    .set(Column.KIND, Kind.RUN_CLOSE.code())
                    .set(Column.AT_NS, TestRun.START_NS)
                    .set(Column.DETAIL, detail);
            var text = new StringWriter();
            JsonGenerator out = JsonLines.to(text);
            out.writeTree(events.of(new EventViews().of(row), 1));
            JsonLines.end(out);
            String asText = "\"detail\":" + JSON.writeValueAsString(detail);
            boolean isText = text.toString().contains(asText);
            objects += isText ? 0 : 1;
            assertTrue(isText || text.toString().contains("\"detail\":" + detail.replace("1e400", "1E+400")), detail);
        }
        assertEquals(12, objects);
    }

    private static JsonNode accessed(OcsfEvents events, Kind kind, String what, String detail) throws Exception {
        var row = new Row()
                .set(Column.KIND, kind.code())
                .set(Column.AT_NS, TestRun.START_NS)
                .set(Column.SOURCE, 2)
                .set(Column.HOST, "ann")
                .set(Column.REMOTE_IP, "127.0.0.1")
                .set(Column.REMOTE_PORT, 4_711)
                .set(Column.WHAT, what)
                .set(Column.DETAIL, detail);
        JsonNode event = JSON.readTree(events.of(new EventViews().of(row), 1).toString());
        assertEquals(List.of(), new OcsfSchema().faults(event));
        return event;
    }

    /// The first row of a kind has every column, the others some.
    static Row row(Kind kind, Random random, int i) {
        var row = new Row().set(Column.KIND, kind.code()).set(Column.AT_NS, TestRun.START_NS + i);
        for (Column column : Column.values()) {
            if (column == Column.KIND || column == Column.AT_NS || i > 0 && random.nextInt(3) == 0) {
                continue;
            }
            switch (column.type()) {
                case INT, LONG -> row.set(column, number(column, random));
                case BYTES -> row.set(column, new byte[] {1, 2}, 0, 2);
                case STRING -> row.set(column, text(column, random));
                case STRING_LIST ->
                    row.set(
                            column,
                            List.of(Text.of("path=7"), Text.copyOf(new byte[] {(byte) 0xff, '\n'}, 0, 2), Text.of("")));
            }
        }
        return row;
    }

    private static long number(Column column, Random random) {
        return switch (column) {
            case SOURCE -> 1 + random.nextInt(2);
            case LOCAL_PORT, REMOTE_PORT -> random.nextInt(-2, 70_000);
            case RET -> random.nextInt(-200, 5);
            default ->
                column.type() == ColumnType.INT
                        ? random.nextInt()
                        : random.nextInt(4) == 0 ? random.nextLong() : random.nextInt(9);
        };
    }

    private static String text(Column column, Random random) {
        return switch (column) {
            case DETAIL -> DETAILS.get(random.nextInt(DETAILS.size()));
            case LOCAL_IP, REMOTE_IP -> random.nextBoolean() ? "10.0.2.15" : "2001:db8::1";
            case PATH, PATH_TO, EXE, CWD -> random.nextBoolean() ? "/workspace/a b" : "tmpfs[0:45]/x";
            default -> WORDS.get(random.nextInt(WORDS.size()));
        };
    }

    private List<JsonNode> exported(TestRun run) throws Exception {
        run.spool(0, run.batches.size());
        var text = new StringWriter();
        EventExport.Written written =
                EventExport.write(Recordings.unchecked(folder), run.run, new OcsfExport(run.run, text));
        var events = new ArrayList<JsonNode>();
        for (String line : text.toString().split("\n", -1)) {
            if (!line.isEmpty()) {
                events.add(JSON.readTree(line));
            }
        }
        assertTrue(text.toString().endsWith("}\n"));
        assertEquals(written.events() + 1, events.size());
        assertEquals(
                written.limits().size(),
                events.getLast().path("unmapped").path("limits").size());
        return events;
    }

    @Test
    void aBuildSaysWhoDidWhat() throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder), 2);
        List<JsonNode> events = exported(run);
        for (int i = 0; i < events.size() - 1; i++) {
            assertEquals(
                    run.run + ":" + i,
                    events.get(i).path("metadata").path("uid").asText());
        }
        JsonNode exec = first(events, "process.exec");
        assertEquals(1007_01, exec.path("type_uid").asInt());
        assertEquals("/usr/bin/cc", exec.path("process").path("path").asText());
        assertEquals(
                "cc -o /workspace/file0.o ",
                exec.path("process").path("cmd_line").asText());
        assertEquals("100@100000000", exec.path("process").path("uid").asText());
        assertEquals(1, exec.path("status_id").asInt());
        JsonNode open = first(events, "file.open");
        assertEquals(
                "/usr/bin/cc", open.path("actor").path("process").path("path").asText());
        assertEquals("main.c", open.path("file").path("name").asText());
        JsonNode refused = events.stream()
                .filter(each -> each.path("file").path("path").asText().equals("/etc/shadow"))
                .findFirst()
                .orElseThrow();
        assertEquals(2, refused.path("status_id").asInt());
        assertEquals("13", refused.path("status_code").asText());
        JsonNode rename = first(events, "file.rename");
        assertEquals(
                "/workspace/file0.obj", rename.path("file_result").path("path").asText());
        JsonNode flow = events.stream()
                .filter(each -> each.path("traffic").path("bytes_in").asLong() == 9000
                        && each.path("metadata").path("log_provider").asText().equals("host"))
                .findFirst()
                .orElseThrow();
        assertEquals("example.org", flow.path("dst_endpoint").path("hostname").asText());
        assertFalse(flow.has("actor"), "the host does not see which process it was");
        JsonNode dns = first(events, "dns.query");
        assertEquals("A", dns.path("query").path("type").asText());
        assertEquals("93.184.216.34", dns.path("answers").path(0).path("rdata").asText());
        JsonNode loss = first(events, "recorder.loss");
        assertEquals(4, loss.path("severity_id").asInt());
        assertEquals("7 events were lost (ring)", loss.path("message").asText());
        JsonNode last = events.getLast();
        assertEquals("run.limits", last.path("metadata").path("event_code").asText());
        assertTrue(last.path("unmapped").path("limits").toString().contains("7 events were lost"), last::toString);
    }

    private static JsonNode first(List<JsonNode> events, String kind) {
        return events.stream()
                .filter(each ->
                        each.path("metadata").path("event_code").asText().equals(kind))
                .findFirst()
                .orElseThrow();
    }
}
