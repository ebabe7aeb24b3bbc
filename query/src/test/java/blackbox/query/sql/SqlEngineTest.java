package blackbox.query.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqlEngineTest {

    @TempDir
    Path folder;

    private TestRun run;
    private Recordings recordings;
    private Path secret;

    @BeforeEach
    void record() throws Exception {
        run = TestEvents.smallBuild(new TestRun(folder.resolve("data")), 2);
        recordings = Recordings.unchecked(run.data);
        secret = Files.writeString(folder.resolve("secret.csv"), "word\nhunter2\n");
    }

    private JsonNode select(String sql) throws Exception {
        var text = new StringWriter();
        try (SqlEngine engine = SqlEngine.open(recordings, SqlLimits.DEFAULT);
                JsonGenerator out = new JsonFactory().createGenerator(text)) {
            engine.select(sql, new JsonResult(out));
        }
        return new ObjectMapper().readTree(text.toString());
    }

    @Test
    void theTablesAnswer() throws Exception {
        run.table();
        JsonNode one = select("SELECT * FROM runs").path(0);
        assertEquals("build", one.path("name").asText());
        assertEquals("live", one.path("tier").asText());
        assertEquals(run.batches.getLast().endIndex(), one.path("events").asLong());
        assertEquals(7, one.path("lost").asLong());
        assertTrue(one.path("started_at").asText().startsWith("2026-11-21T00:00:00.001"), one.toString());
        JsonNode file =
                select("SELECT * FROM files WHERE path = '/workspace/file1.o'").path(0);
        assertTrue(file.path("created").asBoolean()
                && file.path("deleted").asBoolean()
                && file.path("written").asBoolean());
        assertEquals(1000, file.path("bytes_written").asLong());
        assertEquals(0, select("SELECT * FROM files WHERE path = '/etc/shadow'").size());
        JsonNode process =
                select("SELECT * FROM processes ORDER BY executed_at").path(0);
        assertEquals(
                "[\"cc\",\"-o\",\"/workspace/file0.o\",\"\"]",
                process.path("argv").toString());
        assertEquals(0, process.path("exit_code").asInt(-1));
        JsonNode flow = select("SELECT * FROM egress ORDER BY protocol DESC").path(0);
        assertEquals("example.org", flow.path("host").asText());
        assertTrue(flow.path("seen_by_guest").asBoolean()
                && flow.path("seen_by_host").asBoolean());
        assertEquals(9000, flow.path("bytes_in").asLong());
    }

    /// What a guest says of itself can be any number: a sum that is none is null, and the other runs are there.
    @Test
    void sumsBeyondAnyNumberAreNullAndNoEndToTheAnswer() throws Exception {
        run.table();
        var other = new TestRun(run.data, new RunId("01kaj3v4e00000000000000007"), run.key).open("lost");
        for (int i = 0; i < 2; i++) {
            other.add(new Event.RecorderLoss(EventHeader.host(other.tick()), Long.MAX_VALUE, "probe-missed", null));
        }
        other.close(0);
        other.table();
        JsonNode runs = select("SELECT name, lost FROM runs ORDER BY name");
        assertEquals(7, runs.path(0).path("lost").asLong(-1), runs::toString);
        assertEquals("lost", runs.path(1).path("name").asText());
        assertTrue(runs.path(1).path("lost").isNull(), runs::toString);
    }

    @Test
    void onlySealedFilesAnswerAndEachRowOnce() throws Exception {
        run.table(0, 2, "PARQUET_VERSION v2");
        Path unsealed = run.table(2, 3, "PARQUET_VERSION v2");
        Files.delete(Path.of(unsealed + ".seal"));
        run.table(1, 2, "PARQUET_VERSION v2");
        long rows = run.batches.get(1).endIndex();
        assertEquals(
                rows,
                select("SELECT count(*) AS n FROM events").path(0).path("n").asLong());
    }

    @Test
    void withoutRecordingsTheTablesAreEmpty() throws Exception {
        assertEquals(0, select("SELECT * FROM events").size());
        assertEquals(0, select("SELECT * FROM egress ORDER BY protocol DESC").size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "COPY events TO '/tmp/x.csv'",
                "COPY (SELECT 1) TO 'FOLDER/out.csv'",
                "ATTACH 'FOLDER/new.db'",
                "INSTALL httpfs",
                "LOAD httpfs",
                "SET memory_limit = '64GB'",
                "SET enable_external_access = true",
                "RESET memory_limit",
                "PRAGMA database_list",
                "CALL pragma_version()",
                "CREATE TABLE t AS SELECT 1",
                "INSERT INTO events SELECT * FROM events",
                "DROP VIEW events",
                "EXPORT DATABASE 'FOLDER/x'",
                "SELECT 1; SELECT 2",
                "SELECT 1; COPY events TO '/tmp/x.csv'",
                "EXPLAIN ANALYZE SELECT 1",
                "SELEC 1",
                "",
                "SELECT * FROM read_csv('SECRET')",
                "SELECT * FROM 'SECRET'",
                "SELECT * FROM read_text('SECRET')",
                "SELECT * FROM read_blob('/proc/self/environ')",
                "SELECT * FROM glob('FOLDER/*')",
                "SELECT * FROM read_parquet('UNSEALED')",
                "SELECT * FROM parquet_metadata('/etc/passwd')",
                "SELECT * FROM read_csv('http://127.0.0.1:1/x')",
                "SELECT * FROM query('COPY events TO ''FOLDER/y.csv''')",
                "SELECT getenv('HOME')"
            })
    void nothingButASelectOverTheTablesIsAnswered(String attempt) throws Exception {
        run.table(0, 2, "PARQUET_VERSION v2");
        Path unsealed = run.table(2, 3, "PARQUET_VERSION v2");
        Files.delete(Path.of(unsealed + ".seal"));
        String sql = attempt.replace("SECRET", secret.toString())
                .replace("UNSEALED", unsealed.toString())
                .replace("FOLDER", folder.toString());
        try (SqlEngine engine = SqlEngine.open(recordings, SqlLimits.DEFAULT)) {
            var sink = new CsvResult(new PrintWriter(new StringWriter()));
            var refused = assertThrows(QueryException.class, () -> engine.select(sql, sink), sql);
            assertEquals(QueryException.Code.BAD_INPUT, refused.code(), refused.getMessage());
            engine.select("SELECT count(*) FROM events", sink);
        }
        try (var left = Files.list(folder)) {
            assertEquals(2, left.count());
        }
    }

    @Test
    void aQueryThatTakesTooLongIsStopped() throws Exception {
        run.table();
        var limits = new SqlLimits(256, 1, Duration.ofSeconds(2));
        try (SqlEngine engine = SqlEngine.open(recordings, limits)) {
            var failure = assertThrows(
                    QueryException.class,
                    () -> engine.select(
                            "SELECT sum(hash(a.range + b.range)) FROM range(100000000) a, range(100000) b",
                            new CsvResult(new PrintWriter(new StringWriter()))));
            assertEquals(QueryException.Code.ENGINE, failure.code(), failure.getMessage());
            var tooMuch = assertThrows(
                    QueryException.class,
                    () -> engine.select(
                            "SELECT list(range) FROM range(1000000000)",
                            new CsvResult(new PrintWriter(new StringWriter()))));
            assertEquals(QueryException.Code.ENGINE, tooMuch.code(), tooMuch.getMessage());
            var wrong = assertThrows(
                    QueryException.class,
                    () -> engine.select(
                            "SELECT kind::INTEGER FROM events", new CsvResult(new PrintWriter(new StringWriter()))));
            assertEquals(QueryException.Code.BAD_INPUT, wrong.code(), wrong.getMessage());
            assertTrue(String.valueOf(wrong.getMessage()).contains("run.open"), wrong.getMessage());
        }
    }

    /// The driver's own limit ends before the first row of a streamed result.
    @Test
    @Timeout(60)
    void aQueryIsStoppedAlsoWhileItsRowsAreRead() throws Exception {
        run.table();
        var limits = new SqlLimits(256, 1, Duration.ofSeconds(2));
        for (String sql : List.of(
                "SELECT range FROM range(1000000000000)",
                "SELECT range FROM range(1000000000000) WHERE range < 20 OR hash(range) = 0")) {
            try (SqlEngine engine = SqlEngine.open(recordings, limits)) {
                var sink = new CsvResult(new PrintWriter(Writer.nullWriter()));
                var failure = assertThrows(QueryException.class, () -> engine.select(sql, sink), sql);
                assertEquals(QueryException.Code.ENGINE, failure.code(), failure.getMessage());
                assertTrue(String.valueOf(failure.getMessage()).contains("took longer than 2 s"), failure.getMessage());
            }
        }
    }

    @Test
    void resultsAsTextCsvAndParquet() throws Exception {
        run.table();
        var text = new StringWriter();
        try (SqlEngine engine = SqlEngine.open(recordings, SqlLimits.DEFAULT)) {
            engine.select("SELECT 1 AS n, 'a,b' AS t, NULL AS z", new CsvResult(new PrintWriter(text)));
            assertEquals("n,t,z\r\n1,\"a,b\",\r\n", text.toString());
            var table = new StringWriter();
            engine.select("SELECT 'x\u001b[31m' AS t", new TextResult(new PrintWriter(table)));
            assertTrue(table.toString().contains("x\\x1b[31m"), table.toString());
            assertFalse(engine.tables().isEmpty());
        }
        var out = new ByteArrayOutputStream();
        ParquetExport.write(recordings, SqlLimits.DEFAULT, "SELECT run, kind FROM events -- all of it", out);
        assertEquals("PAR1", out.toString(StandardCharsets.ISO_8859_1).substring(0, 4));
    }
}
