package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Runs of real VMs compared: equal work has no divergence, and what was changed is what `diff` names.
class RecordedDiffTest {

    private static final String DETERMINISTIC =
            "mkdir out; t=$(mktemp); cat config > $t; sort $t > out/a; rm $t; sh -c 'echo x > out/b'";

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    private static String workspace(String config) throws Exception {
        Path workspace = Files.createTempDirectory(folder, "workspace");
        Files.writeString(workspace.resolve("config"), config);
        return workspace.toString();
    }

    private static void record(String name, String workspace, String script) throws Exception {
        blackbox.run("record", "--name", name, "--workspace", workspace, "--", "sh", "-c", script)
                .expect(0);
    }

    private static JsonNode diff(String one, String other, int exitCode) throws Exception {
        return blackbox.run("diff", one, other, "--json").expect(exitCode).json();
    }

    @Test
    void equalWorkIsEqualAndAChangedFileOfTheWorkspaceIsNamed() throws Exception {
        String same = workspace("one\ntwo\n");
        record("first", same, DETERMINISTIC);
        record("again", same, DETERMINISTIC);
        JsonNode equal = diff("first", "again", 0);
        assertTrue(equal.path("firstDivergence").isNull(), equal::toString);
        record("changed", workspace("one\ntwo\nthree\n"), DETERMINISTIC);
        JsonNode first = diff("first", "changed", 1).path("firstDivergence");
        assertEquals("IMAGE", first.path("class").asText(), first::toString);
        assertTrue(first.path("causes").toString().contains("/workspace/config"), first::toString);
    }

    @Test
    void aRandomNumberThatDecidesIsRandom() throws Exception {
        String same = workspace("");
        String script = "touch r$(od -An -N8 -tx1 /dev/urandom | tr -d ' ')";
        record("random", same, script);
        record("random again", same, script);
        JsonNode first = diff("random", "random again", 1).path("firstDivergence");
        assertEquals("RANDOM", first.path("class").asText(), first::toString);
        assertTrue(first.path("expected").asText().contains("touch"), first::toString);
    }

    @Test
    void theTimeThatDecidesIsClock() throws Exception {
        String same = workspace("");
        record("then", same, "touch at$(date +%s%N)");
        record("later", same, "touch at$(date +%s%N)");
        JsonNode first = diff("then", "later", 1).path("firstDivergence");
        assertEquals("CLOCK", first.path("class").asText(), first::toString);
        assertTrue(first.path("expected").asText().contains("touch"), first::toString);
    }

    @Test
    void anAnswerThatChangedIsNetDiff() throws Exception {
        var answers = new AtomicReference<>("yes");
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] answer = answers.get().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        try {
            String[] words = {
                "record",
                "--network",
                "user",
                "--workspace",
                workspace(""),
                "--name",
                "asked",
                "--",
                "sh",
                "-c",
                "touch said-$(curl -s http://10.0.2.2:" + server.getAddress().getPort() + "/)"
            };
            blackbox.run(words).expect(0);
            answers.set("on the whole no");
            words[6] = "asked again";
            blackbox.run(words).expect(0);
        } finally {
            server.stop(0);
        }
        JsonNode first = diff("asked", "asked again", 1).path("firstDivergence");
        assertEquals("NET_DIFF", first.path("class").asText(), first::toString);
        assertTrue(first.path("causes").toString().contains("10.0.2.2"), first::toString);
    }
}
