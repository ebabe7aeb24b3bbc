package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.record.Installation;
import blackbox.cli.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The README's first command, in its default tier: it must hold each time, and leave nothing but the runs.
class DemoTest {

    @TempDir
    Path folder;

    @TempDir
    Path temporary;

    @Test
    void theDemoHoldsTwiceAndLeavesNothingBehind() throws Exception {
        var blackbox = Installation.in(folder);
        Ended people = demo(blackbox);
        List<String> lines = people.out().lines().toList();
        assertTrue(lines.size() <= DemoReport.LINES_MAX, () -> lines.size() + " lines:\n" + people.out());
        assertTrue(people.out().contains("0 packets left the machine"), people::out);

        JsonNode programs = demo(blackbox, "--json").json();
        assertEquals("VERIFIED", programs.path("verify").path("integrity").asText());
        assertEquals("COMPLETE", programs.path("verify").path("completeness").asText());
        String expected = programs.path("tier").asText().equals("exact") ? "IDENTICAL" : "EQUIVALENT";
        assertEquals(expected, programs.path("replay").path("verdict").asText());
        assertEquals(0, programs.path("replay").path("egressPackets").asInt(-1));
        assertTrue(Files.exists(Path.of(programs.path("workspace").asText()).resolve("project/build/report.txt")));

        assertEquals(2, blackbox.run("runs", "--json").expect(0).json().size());
        assertEquals(List.of(), names(blackbox.data().resolve("vm")));
        assertEquals(List.of(), names(temporary));
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
