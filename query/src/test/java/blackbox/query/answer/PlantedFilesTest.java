package blackbox.query.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.parquet.ForgedFooter;
import blackbox.evidence.store.LeftOut;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.verify.SealTrust;
import blackbox.query.run.RunFacts;
import blackbox.query.sql.JsonResult;
import blackbox.query.sql.SqlEngine;
import blackbox.query.sql.SqlLimits;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.table.DataFileName;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.sql.DriverManager;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Somebody who may write to the warehouse, and has no key, puts files there: every answer is what it was, and
/// says what it leaves out.
final class PlantedFilesTest {

    private static final String TOKEN = "0badf00d";

    @TempDir
    Path folder;

    private TestRun run;
    private Path file;
    private DataFileName name;
    private Recordings recordings;
    private JsonNode before;
    private Touched touchedBefore;

    @BeforeEach
    void record() throws Exception {
        run = TestEvents.smallBuild(new TestRun(folder), 3);
        file = run.table();
        name = Objects.requireNonNull(DataFileName.parse(String.valueOf(file.getFileName())));
        recordings = Recordings.unchecked(folder)
                .trusting(new SealTrust(
                        new TransparencyLogReader(new DataFolder(folder).log()), () -> List.of(run.key.verifier())));
        before = answers();
        touchedBefore = TouchedCollector.collect(recordings, run.run);
        assertEquals(List.of(), recordings.leftOut(run.run));
        assertTrue(before.path(0).path("n").asLong() > 0);
    }

    /// The same rows under a name of their own, with the seal beside them.
    @Test
    void aCopyCountsOnce() throws Exception {
        plant(name.firstIndex(), name.endIndex(), Files.readAllBytes(file), sealOf(file));
        holds("the seal belongs to another file");
    }

    /// Rows that follow, made with another engine.
    @Test
    void rowsWithoutASealAreInNoAnswer() throws Exception {
        Path planted = plant(name.endIndex(), name.endIndex() + 1, rows("99999", ""), new byte[0]);
        Files.delete(planted.resolveSibling(planted.getFileName() + ".seal"));
        holds("it has no seal");
    }

    @Test
    void rowsWithSomeSealAreInNoAnswer() throws Exception {
        plant(name.endIndex(), name.endIndex() + 1, rows("99999", ""), "seal".getBytes(StandardCharsets.UTF_8));
        holds("the seal is not a signed note");
    }

    @Test
    void rowsThatAStrangerSealedAreInNoAnswer() throws Exception {
        Path planted = plant(name.endIndex(), name.endIndex() + 1, rows("99999", ""), new byte[0]);
        run.sealFile(planted, nameOf(planted), TestRun.newKey());
        holds("the seal is not signed by a trusted key");
    }

    /// A file without rows, of other types, would change the types of every query.
    @Test
    void typesAreThoseOfTheTable() throws Exception {
        plant(name.endIndex(), name.endIndex() + 1, rows("true", " LIMIT 0"), sealOf(file));
        holds("the seal belongs to another file");
    }

    /// Whoever has the ingest key may seal, but not change what the columns mean.
    @Test
    void annotationsAreThoseOfTheTable() throws Exception {
        ForgedFooter.change(file, ForgedFooter.Lie.DECIMAL);
        run.sealFile(file, name, run.key);
        assertTrue(leftOut().contains("its schema is not the events table's"), this::leftOut);
        assertEquals(0, answers().path(0).path("n").asLong());
    }

    /// An octet changed after it was read once, with the times as they were.
    @Test
    void whatWasBelievedIsLookedAtAgain() throws Exception {
        FileTime modified = Files.getLastModifiedTime(file);
        byte[] octets = Files.readAllBytes(file);
        octets[octets.length / 2] ^= 1;
        Files.write(file, octets);
        Files.setLastModifiedTime(file, modified);
        assertTrue(leftOut().contains("the file's octets are not those that were sealed"), this::leftOut);
        assertEquals(0, answers().path(0).path("n").asLong());
        assertTrue(
                TouchedCollector.collect(recordings, run.run)
                        .limits()
                        .toString()
                        .contains("left out"),
                "touched says so");
    }

    @Test
    void anotherRunsFileIsNotThisRuns() throws Exception {
        var other = TestEvents.smallBuild(
                new TestRun(folder, RunId.create(java.time.Instant.EPOCH, new Random(7)), run.key), 1);
        Path theirs = other.table();
        Files.copy(theirs, run.dataFolder().resolve(theirs.getFileName()));
        Files.write(run.dataFolder().resolve(theirs.getFileName() + ".seal"), sealOf(theirs));
        assertTrue(leftOut().contains("the seal belongs to another file"), this::leftOut);
        assertEquals(
                before.path(0).path("n").asLong(),
                select("SELECT count(*) AS n FROM events WHERE run = '" + run.run + "'")
                        .path(0)
                        .path("n")
                        .asLong());
    }

    @Test
    void aGapIsNamed() throws Exception {
        var split = new TestRun(folder, RunId.create(java.time.Instant.EPOCH, new Random(8)), run.key);
        TestEvents.smallBuild(split, 4);
        split.table(0, 1, "PARQUET_VERSION v2");
        Path middle = split.table(1, 2, "PARQUET_VERSION v2");
        split.table(2, split.batches.size(), "PARQUET_VERSION v2");
        assertEquals(List.of(), recordings.leftOut(split.run));
        Files.delete(middle);
        Files.delete(middle.resolveSibling(middle.getFileName() + ".seal"));
        long from = split.batches.get(1).firstIndex();
        long to = split.batches.get(2).firstIndex() - 1;
        assertEquals(
                List.of(new LeftOut(split.run, "events " + from + " to " + to, "no file that is believed holds them")),
                recordings.leftOut(split.run));
    }

    private void holds(String why) throws Exception {
        assertEquals(before, answers());
        Touched touched = TouchedCollector.collect(recordings, run.run);
        assertEquals(touchedBefore.files(), touched.files());
        assertEquals(touchedBefore.processes(), touched.processes());
        assertTrue(touched.limits().toString().contains(why), touched.limits()::toString);
        RunFacts facts = RunFacts.read(recordings, run.run);
        assertEquals(before.path(0).path("n").asLong(), facts.events());
        assertTrue(facts.leftOut().toString().contains(why), facts::toString);
        try (SqlEngine engine = SqlEngine.open(recordings, SqlLimits.DEFAULT)) {
            assertTrue(engine.leftOut().toString().contains(why));
        }
    }

    private String leftOut() {
        try {
            return recordings.leftOut(run.run).toString();
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }

    private Path plant(long first, long end, byte[] octets, byte[] seal) throws Exception {
        var planted = new DataFileName(first, end, TOKEN);
        Path path = Files.write(run.dataFolder().resolve(planted.toString()), octets);
        Files.write(run.dataFolder().resolve(planted.sealName()), seal);
        return path;
    }

    private static DataFileName nameOf(Path planted) {
        return Objects.requireNonNull(DataFileName.parse(String.valueOf(planted.getFileName())));
    }

    private static byte[] sealOf(Path sealed) throws Exception {
        return Files.readAllBytes(sealed.resolveSibling(sealed.getFileName() + ".seal"));
    }

    /// A Parquet file with a row of the run, whose `bytes_read` is `number`.
    private byte[] rows(String number, String limit) throws Exception {
        Path made = folder.resolve("made.parquet");
        try (var connection = DriverManager.getConnection("jdbc:duckdb:");
                var statement = connection.createStatement()) {
            statement.execute("COPY (SELECT '" + run.run + "' AS run, " + name.endIndex()
                    + "::BIGINT AS index, 'file.io' AS kind, '/etc/shadow' AS path, " + number
                    + " AS bytes_read" + limit + ") TO '" + made + "' (FORMAT parquet)");
        }
        return Files.readAllBytes(made);
    }

    /// Counts and sums over everything.
    private JsonNode answers() throws Exception {
        return select("SELECT count(*) AS n, sum(bytes_read) AS bytes, count(path) AS paths, "
                + "(SELECT count(*) FROM files) AS files, (SELECT count(*) FROM runs) AS runs FROM events");
    }

    private JsonNode select(String sql) throws Exception {
        var text = new StringWriter();
        try (SqlEngine engine = SqlEngine.open(recordings, SqlLimits.DEFAULT);
                JsonGenerator out = new JsonFactory().createGenerator(text)) {
            engine.select(sql, new JsonResult(out));
        }
        return new ObjectMapper().readTree(text.toString());
    }
}
