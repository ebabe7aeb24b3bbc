package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A command in a terminal: its size, keys and ctrl-C go in, what it shows comes out and is kept.
final class TerminalTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String AGENT = """
            import os, signal, sys
            def say(text):  # a signal handler must not call print() while a print() is running
                os.write(1, text.encode() + b"\\n")
            def size(*_):
                say("SIZE %d %d" % os.get_terminal_size())
            signal.signal(signal.SIGWINCH, size)
            signal.signal(signal.SIGINT, lambda *_: say("GOT-INT"))
            print(sys.stdin.isatty(), sys.stderr.isatty(), os.environ["TERM"], os.ttyname(0), flush=True)
            size()
            print("READY \\u00e4\\u20ac", flush=True)
            for line in sys.stdin:
                print("line", line.strip(), flush=True)
                if line.strip() == "done":
                    sys.exit(7)
            print("END", flush=True)
            """;

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    private static Ended inTerminal(String tier, List<JsonNode> steps) throws Exception {
        var command = new ArrayList<>(List.of(
                "python3", Path.of("src/test/resources/record/terminal.py").toString(), "100", "40"));
        command.addAll(Installation.command("record", "--tier", tier, "-t", "--", "python3", "-c", AGENT));
        Running running = blackbox.start(new ProcessBuilder(command));
        try (OutputStream out = running.process().getOutputStream()) {
            for (JsonNode step : steps) {
                out.write((step + "\n").getBytes(StandardCharsets.UTF_8));
            }
        }
        return running.await();
    }

    private static JsonNode await(String text) {
        return JSON.createObjectNode().put("await", text);
    }

    private static JsonNode type(String text) {
        return JSON.createObjectNode().put("type", text);
    }

    private static JsonNode resize(int columns, int rows) {
        var step = JSON.createObjectNode();
        step.putArray("resize").add(columns).add(rows);
        return step;
    }

    @ParameterizedTest
    @ValueSource(strings = {"live", "exact"})
    void sizeKeysAndInterruptsGoInAndWhatIsShownComesOut(String tier) throws Exception {
        Ended ended = inTerminal(
                tier,
                List.of(
                        await("READY"),
                        resize(120, 50),
                        await("SIZE 120 50"),
                        type("\u0003"),
                        await("GOT-INT"),
                        type("h\u00e4llo\r"),
                        await("line h\u00e4llo"),
                        type("done\r")));
        ended.expect(7);
        assertTrue(ended.out().contains("True True vt220 /dev/pts/0"), ended::out);
        assertTrue(ended.out().contains("SIZE 100 40"), ended::out);
        assertFalse(ended.out().contains("interrupted"), "ctrl-C is the agent's");

        Path cast = folder.resolve(tier + ".cast");
        Ended unused = blackbox.run("export", "last", "--format", "asciicast", "--out", cast.toString())
                .expect(0);
        assertPlays(Files.readAllLines(cast));
        unused = blackbox.run("verify", "last").expect(0);
        String kept = blackbox.run("output", "last").expect(0).out();
        assertTrue(kept.startsWith("True True vt220 /dev/pts/0\r\n"), kept);
        assertTrue(kept.endsWith("line done\r\n"), kept);
        assertTrue(ended.out().contains(kept), "what was kept is what was shown: " + kept + ended.out());
        assertEquals(
                kept,
                blackbox.run("output", "last", "--stdout", "--stderr").expect(0).out());
        blackbox.run("output", "last", "--stderr").expect(2).saying("had a terminal");
        JsonNode opening =
                blackbox.run("show", "last", "--json").expect(0).json().path("detail");
        assertEquals(
                "{\"rows\":40,\"columns\":100,\"term\":\"vt220\"}",
                opening.path("tty").toString());
    }

    private static void assertPlays(List<String> lines) throws Exception {
        JsonNode header = JSON.readTree(lines.getFirst());
        assertEquals(2, header.path("version").asInt());
        assertEquals(100, header.path("width").asInt());
        var shown = new StringBuilder();
        var sizes = new ArrayList<String>();
        double before = 0;
        for (String line : lines.subList(1, lines.size())) {
            JsonNode event = JSON.readTree(line);
            assertTrue(event.path(0).asDouble() >= before, line);
            before = event.path(0).asDouble();
            if (event.path(1).asText().equals("o")) {
                shown.append(event.path(2).asText());
            } else {
                sizes.add(event.path(2).asText());
            }
        }
        assertEquals(List.of("120x50"), sizes);
        assertTrue(shown.toString().contains("READY \u00e4\u20ac\r\n"), shown::toString);
        assertTrue(shown.toString().contains("line done\r\n"), shown::toString);
    }

    /// Somebody makes the window larger while the VM starts.
    @Test
    void theTerminalBeginsWithTheSizeThatTheWindowHasByThen() throws Exception {
        Ended ended = inTerminal("live", List.of(await("tier live"), resize(120, 50), await("READY"), type("done\r")));
        ended.expect(7);
        assertTrue(ended.out().contains("SIZE 120 50"), ended::out);
        assertFalse(ended.out().contains("SIZE 100 40"), ended::out);
        JsonNode opening =
                blackbox.run("show", "last", "--json").expect(0).json().path("detail");
        assertEquals(
                "{\"rows\":50,\"columns\":120,\"term\":\"vt220\"}",
                opening.path("tty").toString());
    }

    @Test
    void ctrlDIsTheEndOfInput() throws Exception {
        Ended ended = inTerminal("live", List.of(await("READY"), type("\u0004"), await("END")));
        ended.expect(0);
    }

    @Test
    void withoutATerminalThereIsNone() throws Exception {
        Ended ended = blackbox.run("record", "-t", "--", "true").expect(2);
        ended.saying("leave out --tty");
        blackbox.run("record", "--", "true").expect(0);
        blackbox.run("export", "last", "--format", "asciicast").expect(2).saying("record -t");
    }
}
