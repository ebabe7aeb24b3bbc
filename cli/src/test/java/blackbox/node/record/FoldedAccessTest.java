package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Reads and writes are folded into one event for each file that a process opens, and told when it is closed.
/// Whether the sweep that tells of files which stay open comes meanwhile is chance, and does not show: else two
/// runs that do the same would differ.
final class FoldedAccessTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PROGRAM = """
            import time
            held = open('/tmp/held', 'wb', 0)
            held.write(b'x')
            end = time.monotonic() + 8
            number = 0
            while time.monotonic() < end:
                begun = time.monotonic()
                with open(f'/tmp/short{number}', 'wb', 0) as file:
                    file.write(b'a')
                    time.sleep(0.05)
                    file.write(b'b')
                # A machine that stands still for longer is none that this is about.
                number += time.monotonic() - begun < 2
            held.close()
            print(number)
            """;

    private static final String COPIED = """
            import glob, json, os
            own = [each for each in sorted(glob.glob('/usr/lib/python3*/*.py')) if not os.path.islink(each)]
            paths = [each for each in own if open(each, 'rb', 0).read(1)][:40]
            for path in paths:
                open(path, 'ab', 0).write(b'#')
            print(json.dumps(paths))
            """;

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    @Test
    void aFileThatIsOpenDuringASweepIsToldOnce() throws Exception {
        var ended = blackbox.run("record", "--json", "--tier", "live", "--", "python3", "-c", PROGRAM)
                .expect(0);
        int number = Integer.parseInt(ended.out().strip());
        String run = ended.recorded().path("run").asText();
        Map<String, List<String>> told = told(run, "file.io", "bytesWritten");
        Map<String, List<String>> closed = told(run, "file.close", "path");

        assertTrue(number > 20, () -> number + " files in eight seconds");
        for (int i = 0; i < number; i++) {
            assertEquals(List.of("2"), told.get("/tmp/short" + i), told::toString);
        }
        assertEquals(List.of("1"), told.get("/tmp/held"), told::toString);
        assertTrue(
                closed.keySet().stream().noneMatch(path -> path.startsWith("/tmp/short") || path.equals("/tmp/held")),
                closed::toString);
    }

    /// Before an overlay lets a program write to a file of the image it copies it, with open files of its own, whose
    /// memory other files get afterwards.
    @Test
    void aFileOfTheImageThatIsCopiedToBeWrittenToHidesNoOtherFile() throws Exception {
        var ended = blackbox.run("record", "--json", "--tier", "live", "--user", "root", "--", "python3", "-c", COPIED)
                .expect(0);
        String run = ended.recorded().path("run").asText();
        JsonNode copied = JSON.readTree(ended.out());

        assertTrue(copied.size() > 30, copied::toString);
        Map<String, List<String>> opened = told(run, "file.open", "ret");
        Map<String, List<String>> read = told(run, "file.io", "bytesRead");
        Map<String, List<String>> written = told(run, "file.io", "bytesWritten");
        for (JsonNode path : copied) {
            assertEquals(List.of("0", "0"), opened.get(path.asText()), path.asText());
            assertEquals(List.of("1", "0"), read.get(path.asText()), path.asText());
            assertEquals(List.of("0", "1"), written.get(path.asText()), path.asText());
        }
        assertTrue(written.keySet().stream().noneMatch(String::isEmpty), written::toString);
    }

    /// A field of each event of that kind, by path.
    private static Map<String, List<String>> told(String run, String kind, String field) throws Exception {
        var told = new TreeMap<String, List<String>>();
        String lines =
                blackbox.run("events", run, "--json", "--kind", kind).expect(0).out();
        for (String line : lines.lines().toList()) {
            JsonNode event = JSON.readTree(line);
            told.merge(
                    event.path("path").asText(),
                    List.of(event.path(field).asText()),
                    (some, more) -> Stream.concat(some.stream(), more.stream()).toList());
        }
        return told;
    }
}
