package blackbox.node.travel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.console.Npm;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.query.export.ChromeTrace;
import blackbox.query.export.EventExport;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run's time line in a viewer of others, speedscope in Debian's Chromium.
class TraceViewerTest {

    @TempDir
    Path folder;

    @Test
    void eachProcessIsATimelineOfItsPrograms() throws Exception {
        var run = new TestRun(folder);
        TestEvents.smallBuild(run, 4);
        run.spool(0, run.batches.size());
        Path file = folder.resolve("trace.json");
        try (var out = Files.newBufferedWriter(file)) {
            EventExport.Written written =
                    EventExport.write(Recordings.unchecked(folder), run.run, new ChromeTrace(run.run, out));
            assertTrue(written.events() > 0);
        }
        Map<String, Set<String>> expected = slices(new ObjectMapper().readTree(file.toFile()));
        assertTrue(expected.values().stream().anyMatch(each -> each.contains("cc")), expected::toString);

        JsonNode said = Npm.script("speedscope.mjs", List.of(file)).getFirst();
        assertEquals("[]", said.path("wrong").toString());
        var shown = new TreeMap<String, Set<String>>();
        for (JsonNode timeline : said.path("timelines")) {
            shown.put(timeline.path("title").asText(), new TreeSet<>(Npm.texts(timeline.path("names"))));
        }
        assertEquals(expected, shown);
    }

    /// The programs that have a slice, by what speedscope calls their process.
    private static Map<String, Set<String>> slices(JsonNode trace) {
        var names = new TreeMap<Long, String>();
        var programs = new TreeMap<Long, Set<String>>();
        for (JsonNode entry : trace.path("traceEvents")) {
            long pid = entry.path("pid").asLong();
            switch (entry.path("ph").asText()) {
                case "M" -> names.put(pid, entry.path("args").path("name").asText());
                case "B" ->
                    programs.computeIfAbsent(pid, _ -> new TreeSet<>())
                            .add(entry.path("name").asText());
                default -> {}
            }
        }
        var slices = new TreeMap<String, Set<String>>();
        programs.forEach((pid, each) -> slices.put(
                inOneLine(names.get(pid)) + " (pid " + pid + ", tid " + pid + ")",
                each.stream().map(TraceViewerTest::inOneLine).collect(Collectors.toCollection(TreeSet::new))));
        return slices;
    }

    /// As a page shows it.
    private static String inOneLine(@Nullable String text) {
        return String.valueOf(text).strip().replaceAll("\\s+", " ");
    }
}
