package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.BuiltProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The start-up cache that the build makes knows what a recording needs. Without it all is as before, only slower, so
/// nobody would notice that its training has failed.
class StartUpCacheTest {

    /// There are some 100; 2,000 where ingest was not trained.
    private static final int CLASSES_MAX = 400;

    @TempDir
    Path folder;

    @Test
    void aRecordingReadsFewClassesFromJars() throws Exception {
        assertTrue(BuiltProgram.current().isPresent(), "the program is not built of today's classes: run make build");
        Installation blackbox = Installation.in(folder);
        Path loaded = folder.resolve("loaded.txt");
        var command = new ArrayList<>(Installation.command("record", "--tier", "live", "--", "true"));
        command.add(command.indexOf("-jar"), "-Xlog:class+load:file=" + loaded);
        blackbox.start(new ProcessBuilder(command)).await().expect(0);
        List<String> fromJars = Files.readAllLines(loaded).stream()
                .filter(line -> line.contains("source: file:"))
                .toList();
        assertTrue(
                fromJars.size() <= CLASSES_MAX,
                () -> fromJars.size() + " classes, of which the first: " + fromJars.subList(0, 40));
    }
}
