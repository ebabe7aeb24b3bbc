package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import blackbox.evidence.GoldenWarehouse;
import blackbox.evidence.storage.LocalStore;
import blackbox.ingest.IngestException;
import blackbox.ingest.table.EventTable;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Column;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The day a column or a kind is added: a later Blackbox opens a warehouse that revision a53f6e1 wrote, and
/// this one opens what the later one has added to it.
///
/// The later version is this one with a constant more in an enum, which is compiled here and put in front of
/// the class path of a process of its own ([GrowthSubject]).
class GrowthTest {

    private static final Path SOURCES = Path.of("../schemas/src/main/java/blackbox/schemas");
    private static final int FIELD_ID =
            Arrays.stream(Column.values()).mapToInt(Column::fieldId).max().orElseThrow() + 1;

    /// The code of the golden warehouse's kind without a name.
    private static final int CODE = 72;

    /// Of an enum's constants the last one.
    private static final Pattern LAST_CONSTANT = Pattern.compile("(?m)^( {4}[A-Z][A-Z0-9_]*\\(.*\\));$");

    private static final String VERIFIED = "\"integrity\":\"VERIFIED\"";

    @TempDir
    Path folder;

    private Path data;

    @BeforeEach
    void unpack() throws Exception {
        data = GoldenWarehouse.unpack(folder.resolve("data"));
    }

    private record Ran(int exitCode, String out) {}

    @Test
    void aColumnIsAdded() throws Exception {
        Path later = withConstant("row/Column.java", "ADDED(" + FIELD_ID + ", \"added\", ColumnType.STRING)");
        List<String> said = later(
                later,
                List.of("verify", GoldenWarehouse.CLOSED.value(), "--json"),
                List.of("verify", GoldenWarehouse.OPEN.value(), "--json"),
                List.of("verify", GrowthSubject.RUN.value(), "--json"),
                List.of(
                        "query",
                        "SELECT count(*) AS n, count(added) AS a, any_value(added) AS v FROM events",
                        "--format",
                        "csv"),
                List.of("touched", GoldenWarehouse.CLOSED.value(), "--json"),
                List.of("touched", GrowthSubject.RUN.value(), "--json"));
        assertTrue(said.getFirst().startsWith("VERIFIED"), said::toString);
        for (String verified : said.subList(1, 4)) {
            assertTrue(verified.contains(VERIFIED), verified);
        }
        assertEquals("82,1,grown", said.get(4).lines().toList().getLast());
        assertTrue(said.get(5).contains("/workspace/file1.o"), said.get(5));
        assertTrue(said.get(6).contains("/workspace/added"), said.get(6));
        assertColumnIsInTheTable();
        refusesTheAddedColumn();
    }

    /// In Iceberg's own metadata the new column has a field id of its own, and the old ones keep theirs.
    private void assertColumnIsInTheTable() throws Exception {
        try (var files = Files.list(data.resolve("warehouse/blackbox/events/metadata"))) {
            Path newest = files.filter(file -> file.toString().endsWith(".metadata.json"))
                    .max(Path::compareTo)
                    .orElseThrow();
            String metadata = Files.readString(newest).replace(" ", "");
            assertTrue(metadata.contains("{\"id\":" + FIELD_ID + ",\"name\":\"added\",\"required\":false"), metadata);
            assertTrue(metadata.contains("{\"id\":16,\"name\":\"path\",\"required\":false"), metadata);
        }
    }

    /// This version is the older one now: it says what it does not know, and what it knows still verifies.
    private void refusesTheAddedColumn() {
        var refused = assertThrows(
                IngestException.class,
                () -> EventTable.openForWriting(new DataFolder(data), LocalStore.in(new DataFolder(data)))
                        .close());
        assertEquals(IngestException.Code.CATALOG, refused.code());
        assertTrue(String.valueOf(refused.getMessage()).contains("a column `added`"), refused::getMessage);
        var unread = assertThrows(IngestException.class, () -> EventTable.openForReading(new DataFolder(data)));
        assertTrue(String.valueOf(unread.getMessage()).contains("newer version"), unread::getMessage);
        Ran verified = here("verify", GrowthSubject.RUN.value());
        assertEquals(ExitCodes.FAILED, verified.exitCode(), verified.out());
        assertTrue(verified.out().contains("a column `added` that this version"), verified.out());
        Ran asked = here("query", "SELECT 1");
        assertEquals(ExitCodes.FAILED, asked.exitCode(), asked.out());
        assertTrue(asked.out().contains("a column `added` that this version"), asked.out());
        Ran touched = here("touched", GrowthSubject.RUN.value());
        assertTrue(touched.exitCode() != ExitCodes.OK, touched.out());
        assertTrue(touched.out().contains("a column `added` that this version"), touched.out());
        assertTrue(here("verify", GoldenWarehouse.CLOSED.value()).out().contains("VERIFIED"));
    }

    @Test
    void aKindIsAdded() throws Exception {
        Path later = withConstant("event/Kind.java", "ADDED(" + CODE + ", \"later.kind\")");
        List<String> said = later(
                later,
                List.of("verify", GoldenWarehouse.OPEN.value(), "--json"),
                List.of("verify", GrowthSubject.RUN.value(), "--json"),
                List.of("query", "SELECT count(*) AS n FROM events WHERE kind = 'later.kind'", "--format", "csv"));
        assertTrue(said.get(1).contains(VERIFIED), said.get(1));
        // The other event has column 56, which this version knows by now.
        assertTrue(
                said.get(1).contains("2 events, of which this is the first, were stored by a version that did"),
                said.get(1));
        assertTrue(said.get(2).contains(VERIFIED), said.get(2));
        assertEquals("1", said.get(3).lines().toList().getLast());
        Ran verified = here("verify", GrowthSubject.RUN.value());
        assertEquals(ExitCodes.OK, verified.exitCode(), verified.out());
        assertTrue(verified.out().contains("a kind that this version of Blackbox does not know"), verified.out());
        EventTable table = EventTable.openForReading(new DataFolder(data));
        assertNotNull(table);
        table.close();
    }

    @Test
    void theWarehouseIsOpenedWhereverItIs() throws Exception {
        try (EventTable table = EventTable.openForWriting(new DataFolder(data), LocalStore.in(new DataFolder(data)))) {
            assertEquals(GoldenWarehouse.CLOSED_EVENTS, table.lengths().get(GoldenWarehouse.CLOSED));
            assertEquals(3, table.plan(null).size());
        }
        Ran asked = here("query", "SELECT count(*) AS n FROM events", "--format", "csv");
        assertEquals("67", asked.out().lines().toList().getLast());
    }

    /// Compiles an enum of `schemas` with one constant more.
    private Path withConstant(String source, String added) throws Exception {
        Matcher last = LAST_CONSTANT.matcher(Files.readString(SOURCES.resolve(source)));
        Path changed = folder.resolve(Path.of(source).getFileName());
        Files.writeString(changed, last.replaceFirst("$1,\n" + Matcher.quoteReplacement(added) + ";"));
        Path classes = Files.createDirectory(folder.resolve("later"));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            var errors = new StringWriter();
            List<String> options =
                    List.of("-d", classes.toString(), "-cp", System.getProperty("java.class.path"), "-proc:none");
            boolean compiled = compiler.getTask(errors, files, null, options, null, files.getJavaFileObjects(changed))
                    .call();
            assertTrue(compiled, errors::toString);
        }
        return classes;
    }

    /// Has the later version ingest, and answer the commands; what each of them said.
    @SafeVarargs
    private List<String> later(Path classes, List<String>... commands) throws Exception {
        var command = new ArrayList<>(List.of(
                System.getProperty("java.home") + "/bin/java",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx512m",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classes + File.pathSeparator + System.getProperty("java.class.path"),
                GrowthSubject.class.getName(),
                data.toString()));
        for (List<String> words : commands) {
            command.add(String.join("\t", words) + "\t--data\t" + data);
        }
        Path err = folder.resolve("err");
        Process process =
                new ProcessBuilder(command).redirectError(err.toFile()).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(1, TimeUnit.MINUTES));
        assertEquals(ExitCodes.OK, process.exitValue(), () -> out + read(err));
        return List.of(out.split(GrowthSubject.END + "[0-9]+\n", -1));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /// Runs a command of this version; what it says on both outputs.
    private Ran here(String... arguments) {
        var octets = new ByteArrayOutputStream();
        PrintStream out = System.out;
        PrintStream err = System.err;
        var both = new PrintStream(octets, true, StandardCharsets.UTF_8);
        System.setOut(both);
        System.setErr(both);
        try {
            var all = new ArrayList<>(List.of(arguments));
            all.addAll(List.of("--data", data.toString()));
            return new Ran(Main.run(all.toArray(String[]::new)), octets.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }
}
