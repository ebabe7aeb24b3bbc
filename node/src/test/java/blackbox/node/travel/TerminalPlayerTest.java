package blackbox.node.travel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.console.Npm;
import blackbox.recorder.capture.TerminalCast;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What is stored of a terminal, in asciinema's own player.
class TerminalPlayerTest {

    private static final String SHOWN =
            "\u001b[2J\u001b[H\u001b[31mred\u001b[0m h\u00e9llo \u4e16\u754c \"q\" \\ </script>\r\n"
                    + "\u001b]0;title\u0007second\ttab\r\nthird\b\b\bTHI";

    @TempDir
    Path folder;

    /// Whatever octets it comes in: a character may begin in one piece and end in the next.
    @Test
    void thePlayerShowsWhatTheTerminalShowed() throws Exception {
        byte[] octets = SHOWN.getBytes(StandardCharsets.UTF_8);
        for (int piece : new int[] {1, 7, octets.length}) {
            Path file = folder.resolve(piece + ".cast");
            var clock = new AtomicLong();
            try (var cast =
                    new TerminalCast(file, 1 << 20, 80, 24, "xterm", 1, () -> clock.getAndAdd(1_000_000_000L / 64))) {
                cast.output("gone\r\n".repeat(30).getBytes(StandardCharsets.UTF_8));
                cast.resized(60, 10);
                for (int at = 0; at < octets.length; at += piece) {
                    cast.output(Arrays.copyOfRange(octets, at, Math.min(octets.length, at + piece)));
                }
                cast.output(new byte[] {'!', (byte) 0xff, (byte) 0xe4});
            }
            JsonNode said = Npm.script("player.mjs", List.of(file)).getFirst();
            assertEquals("[]", said.path("wrong").toString());
            assertEquals(60, said.path("columns").asInt());
            assertEquals(10, said.path("rows").asInt());
            assertEquals(
                    List.of(
                            "red h\u00e9llo \u4e16\u754c \"q\" \\ </script>",
                            "second  tab",
                            "thTHI!\ufffd\ufffd",
                            "",
                            "",
                            "",
                            "",
                            "",
                            "",
                            ""),
                    Npm.texts(said.path("lines")));
        }
    }
}
