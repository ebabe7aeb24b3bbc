package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.record.Installation;
import blackbox.cli.record.Installation.Ended;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The README's first command, in its default tier: it must hold each time, and leave nothing but the runs.
class DemoTest {

    @TempDir
    Path folder;

    @Test
    void theDemoHoldsTwiceAndLeavesNothingBehind() throws Exception {
        var blackbox = Installation.in(folder);
        Set<Path> before = temporary();
        Ended people = blackbox.run("demo").expect(0);
        List<String> lines = people.out().lines().toList();
        assertTrue(lines.size() <= DemoReport.LINES_MAX, () -> lines.size() + " lines:\n" + people.out());
        assertTrue(people.out().contains("0 packets left the machine"), people::out);

        JsonNode programs = blackbox.run("demo", "--json").expect(0).json();
        assertEquals("VERIFIED", programs.path("verify").path("integrity").asText());
        assertEquals("COMPLETE", programs.path("verify").path("completeness").asText());
        String expected = programs.path("tier").asText().equals("exact") ? "IDENTICAL" : "EQUIVALENT";
        assertEquals(expected, programs.path("replay").path("verdict").asText());
        assertEquals(0, programs.path("replay").path("egressPackets").asInt(-1));
        assertTrue(Files.exists(Path.of(programs.path("workspace").asText()).resolve("project/build/report.txt")));

        assertEquals(2, blackbox.run("runs", "--json").expect(0).json().size());
        assertEquals(List.of(), names(blackbox.data().resolve("vm")));
        assertEquals(before, temporary(), "temporary folders");
    }

    /// What our programs make in the system's folder for temporary files.
    private static Set<Path> temporary() throws IOException {
        try (Stream<Path> all = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return all.filter(each -> each.getFileName().toString().startsWith("blackbox-"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static List<String> names(Path place) throws IOException {
        if (!Files.isDirectory(place)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(place)) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }
}
