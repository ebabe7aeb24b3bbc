package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.CommandSeries;
import blackbox.evidence.BuiltProgram;
import blackbox.vm.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The start-up cache that the build makes knows what a recording needs. Without it all is as before, only slower, so
/// nobody would notice that its training has failed.
class StartUpCacheTest {

    /// There are some 100; 2,000 where ingest was not trained.
    private static final int CLASSES_MAX = 400;

    @TempDir
    Path folder;

    private Path loaded;

    @BeforeEach
    void setUp() {
        assertTrue(BuiltProgram.current().isPresent(), "the program is not built of today's classes: run make build");
        loaded = folder.resolve("loaded.txt");
    }

    @Test
    void aRecordingReadsFewClassesFromJars() throws Exception {
        Installation blackbox = Installation.in(folder);
        var command = new ArrayList<>(Installation.command("record", "--tier", "live", "--", "true"));
        command.add(command.indexOf("-jar"), "-Xlog:class+load:file=" + loaded);
        blackbox.start(new ProcessBuilder(command)).await().expect(0);
        assertFewFromJars();
    }

    @Test
    void theLauncherTakesItsCacheAndTheJvmSaysNothing() throws Exception {
        Command.Outcome asked = Command.of(
                        "../blackbox", "runs", "--data", folder.resolve("data").toString(), "--json")
                .with("JAVA_HOME", System.getProperty("java.home"))
                .with("BLACKBOX_JAVA_OPTS", "-Xlog:class+load:file=" + loaded)
                .attempt();
        assertEquals(new Command.Outcome(0, "[]\n", ""), asked);
        assertFewFromJars();
    }

    /// `CommandSeries` ends where nothing is asked of it. A JVM that cannot take a cache would say so.
    @Test
    void commandsThatShareAProcessTakeItToo() throws Exception {
        var command = new ArrayList<>(List.of("sh", "-c", "exec \"$@\" </dev/null", "sh"));
        command.addAll(List.of(System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC"));
        command.addAll(BuiltProgram.options(System.getProperty("java.class.path")));
        command.addAll(List.of("-Xlog:class+load:file=" + loaded, CommandSeries.class.getName()));
        assertEquals(
                new Command.Outcome(0, "", ""),
                Command.of(command.toArray(String[]::new)).attempt());
        assertFewFromJars();
    }

    private void assertFewFromJars() throws IOException {
        List<String> fromJars = Files.readAllLines(loaded).stream()
                .filter(line -> line.contains("source: file:"))
                .toList();
        assertTrue(
                fromJars.size() <= CLASSES_MAX,
                () -> fromJars.size() + " classes, of which the first: " + fromJars.subList(0, 40));
    }
}
