package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.console.Npm;
import blackbox.node.record.Installation;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `blackbox mcp` as a client starts it.
class McpCommandTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String HELLO = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
            + "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
            + "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

    @TempDir
    Path folder;

    private record Said(int exitCode, List<String> out, String err) {}

    private Said say(String text, String... more) throws Exception {
        List<String> command =
                Installation.command("mcp", "--data", folder.resolve("data").toString());
        command.addAll(List.of(more));
        Path err = folder.resolve("err");
        Process process =
                new ProcessBuilder(command).redirectError(err.toFile()).start();
        try (Writer in = process.outputWriter(StandardCharsets.UTF_8)) {
            in.write(text);
        } catch (IOException e) {
            // it had ended before it read that
        }
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        return new Said(process.exitValue(), out.lines().toList(), Files.readString(err));
    }

    @Test
    void nothingButAnswersIsOnStandardOutputAndTheEndOfInputIsTheEnd() throws Exception {
        Said said = say(HELLO + "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
                + "\"sql\",\"arguments\":{\"select\":\"SELECT 40 + 2 AS n\"}}}\n");
        assertEquals(0, said.exitCode(), said.err());
        assertEquals(2, said.out().size(), said.out()::toString);
        for (String line : said.out()) {
            JsonNode answer = JSON.readTree(line);
            assertEquals("2.0", answer.path("jsonrpc").asText(), line);
            assertTrue(answer.has("result"), line);
        }
        assertTrue(said.out().toString().contains("\\\"n\\\":42"), said.out()::toString);
        assertEquals("", said.err());
    }

    @Test
    void theClientOfTheProtocolsOwnProjectStartsItAndAsks() throws Exception {
        List<JsonNode> said = Npm.script(
                "mcp.mjs",
                Installation.command("mcp", "--data", folder.resolve("data").toString()));
        assertEquals("blackbox", said.getFirst().path("server").asText());
        String text = said.getLast().path("content").path(0).path("text").asText();
        assertTrue(text.contains("\"total\":0"), text);
    }

    @Test
    void aLineWithoutEndIsNotReadForEver() throws Exception {
        Said said = say("x".repeat(2 << 20));
        assertEquals(3, said.exitCode(), said.err());
        assertTrue(said.err().contains("a line of more than 1048576 bytes"), said.err());
    }

    @Test
    void aKeyThatIsNoneIsToldBeforeTheFirstQuestion() throws Exception {
        Said said = say(HELLO, "--key", folder.resolve("missing.pub").toString());
        assertEquals(2, said.exitCode(), said.err());
        assertTrue(said.err().contains("there is no public key in"), said.err());
    }
}
