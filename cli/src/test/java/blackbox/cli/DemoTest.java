package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.demo.DemoReport;
import blackbox.node.record.Installation;
import blackbox.node.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The README's first command, in its default tier: it must succeed every time, whoever runs it, and leave nothing
/// behind but the run.
class DemoTest {
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    @TempDir
    Path folder;

    @TempDir
    Path temporary;

    @Test
    void itSucceedsAndLeavesNothingBehind() throws Exception {
        var blackbox = Installation.in(folder);
        JsonNode shown = demo(blackbox, "--json").json();
        assertEquals("VERIFIED", shown.path("verify").path("integrity").asText());
        assertEquals("COMPLETE", shown.path("verify").path("completeness").asText());
        String expected = shown.path("tier").asText().equals("exact") ? "IDENTICAL" : "EQUIVALENT";
        assertEquals(expected, shown.path("replay").path("verdict").asText());
        assertEquals(0, shown.path("replay").path("egressPackets").asInt(-1));
        assertTrue(Files.exists(Path.of(shown.path("workspace").asText()).resolve("project/build/report.txt")));
        assertEquals(1, blackbox.run("runs", "--json").expect(0).json().size());
        assertEquals(List.of(), names(blackbox.data().resolve("vm")));
        assertEquals(List.of(), names(temporary));
    }

    /// With the C locale, and a home with a space, quotes, a comma and an ü in its path.
    @Test
    void itSucceedsForAnUnprivilegedUser() throws Exception {
        Path shared = Installation.shared();
        try (var user = OrdinaryUser.make()) {
            for (String each : List.of("images", "archive", "cache", "qemu", "snapshots")) {
                user.give(shared.resolve(each), "data/" + each);
            }
            var ended = user.run(user.blackbox("demo"), PATIENCE);
            assertEquals(0, ended.exitCode(), ended::said);
            assertTrue(ended.said().contains("0 packets left the machine"), ended::said);
            List<String> shown = ended.said()
                    .lines()
                    .dropWhile(line -> !line.startsWith("run  "))
                    .toList();
            assertTrue(!shown.isEmpty() && shown.size() <= DemoReport.LINES_MAX, () -> String.join("\n", shown));
        }
    }

    private Ended demo(Installation blackbox, String... options) throws Exception {
        var words = new ArrayList<>(List.of("demo"));
        words.addAll(List.of(options));
        var command = new ArrayList<>(Installation.command(words.toArray(String[]::new)));
        command.add(1, "-Djava.io.tmpdir=" + temporary);
        return blackbox.start(new ProcessBuilder(command)).await().expect(0);
    }

    private static List<String> names(Path place) throws IOException {
        try (Stream<Path> all = Files.list(place)) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }
}
