package blackbox.query.ocsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.query.answer.Programs;
import blackbox.query.export.EventExport;
import blackbox.query.export.JsonLines;
import blackbox.query.sql.SqlEngine;
import blackbox.schemas.event.Kind;
import blackbox.schemas.view.EventViews;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.OutputStreamWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// That the rows in Parquet are the lines, and the columns OCSF's.
class OcsfParquetTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int ROWS_OF_EACH = 60;

    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void setUp() {
        file = folder.resolve("events.parquet");
    }

    @Test
    void theColumnsAreAttributesOfOcsfAndOfTheirTypes() throws Exception {
        assertEquals(List.of(), new OcsfSchema().faults(OcsfColumns.ALL));
    }

    /// Rows of every kind, with values as a hostile guest or a newer version may have sealed them.
    @Test
    void theRowsAreTheLines() throws Exception {
        var random = new Random(1_801);
        var events = new OcsfEvents(OcsfExportTest.RUN, new Programs());
        var views = new EventViews();
        var lines = new ArrayList<JsonNode>();
        Path packed = folder.resolve("events.jsonl.gz");
        try (Writer text =
                new OutputStreamWriter(new GZIPOutputStream(Files.newOutputStream(packed)), StandardCharsets.UTF_8)) {
            JsonGenerator out = JsonLines.to(text);
            for (Kind kind : Kind.values()) {
                for (int i = 0; i < ROWS_OF_EACH; i++) {
                    ObjectNode event = events.of(views.of(OcsfExportTest.row(kind, random, i)), i);
                    lines.add(JSON.readTree(event.toString()));
                    out.writeTree(OcsfParquet.row(event));
                }
            }
            JsonLines.end(out);
        }
        OcsfParquet.convert(OcsfExportTest.RUN, packed, file);
        List<JsonNode> rows = rows();
        assertEquals(lines.size(), rows.size());
        for (int i = 0; i < lines.size(); i++) {
            assertEquals(lines.get(i), rows.get(i));
        }
        for (String column : OcsfColumns.ALL.fields().keySet()) {
            assertTrue(rows.stream().anyMatch(each -> each.has(column)), () -> column + " is in no row");
        }
        assertEquals(
                List.of("INT64", "INT32", "BYTE_ARRAY", "INT32", "BOOLEAN"),
                select("SELECT type FROM parquet_schema(" + quoted()
                        + ") WHERE name IN ('time', 'class_uid', 'class_name'," + " 'category_uid', 'is_truncated')"));
    }

    @Test
    void ofARunItHasTheLines() throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder), 2);
        run.spool(0, run.batches.size());
        var recordings = Recordings.unchecked(folder);
        var text = new StringWriter();
        EventExport.Written lines = EventExport.write(recordings, run.run, new OcsfExport(run.run, text));
        Path made = Files.createDirectory(folder.resolve("a[1] *'"));
        try (var out = Files.newOutputStream(file)) {
            assertEquals(lines, OcsfParquet.write(recordings, run.run, made, out));
        }
        var expected = new ArrayList<JsonNode>();
        for (String line : text.toString().split("\n")) {
            expected.add(JSON.readTree(line));
        }
        assertEquals(expected, rows());
        assertEquals(
                List.of("blackbox_run " + run.run, "ocsf_version 1.8.0"),
                select("SELECT decode(key) || ' ' || decode(value) FROM parquet_kv_metadata(" + quoted()
                        + ") ORDER BY 1"));
        assertEquals(
                List.of("JsonType()"),
                select("SELECT logical_type FROM parquet_schema(" + quoted() + ") WHERE name = 'unmapped'"));
    }

    /// An attribute that somebody adds and forgets here must not silently be missing.
    @Test
    void whatHasNoColumnIsAFault() {
        ObjectNode event = JSON.createObjectNode().put("time", 1).put("class_uid", "x");
        event.putObject("actor").put("session", 1);
        Exception refused = assertThrows(IllegalStateException.class, () -> OcsfParquet.row(event));
        assertEquals("no column of Parquet for [class_uid, actor.session]", refused.getMessage());
    }

    private List<JsonNode> rows() throws Exception {
        var rows = new ArrayList<JsonNode>();
        for (String row : select("SELECT to_json(t) FROM read_parquet(" + quoted() + ") t")) {
            ObjectNode read = (ObjectNode) JSON.readTree(row);
            withoutNulls(read);
            rows.add(read);
        }
        // Of this column the text counts: the engine that reads it has no part in what is in it.
        List<String> unmapped = select("SELECT unmapped::VARCHAR FROM read_parquet(" + quoted() + ")");
        for (int i = 0; i < rows.size(); i++) {
            if (unmapped.get(i) != null) {
                ((ObjectNode) rows.get(i)).set(OcsfColumns.UNMAPPED, JSON.readTree(unmapped.get(i)));
            }
        }
        return rows;
    }

    private String quoted() {
        return SqlEngine.quoted(file.toString());
    }

    private static List<String> select(String sql) throws Exception {
        var values = new ArrayList<String>();
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            while (result.next()) {
                values.add(result.getString(1));
            }
        }
        return values;
    }

    /// An attribute that an event has not is null in its row.
    private static void withoutNulls(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.properties().removeIf(each -> each.getValue().isNull());
        }
        if (node instanceof ObjectNode || node instanceof ArrayNode) {
            node.forEach(OcsfParquetTest::withoutNulls);
        }
    }
}
