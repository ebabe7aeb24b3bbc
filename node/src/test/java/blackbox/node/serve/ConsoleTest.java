package blackbox.node.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.console.Npm;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.RunLock;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The console in Debian's Chromium, over the service itself.
@Timeout(240)
class ConsoleTest {
    private static final int CUTS = 10;
    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");
    private static final Path PICTURES = Path.of("target/pictures").toAbsolutePath();
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path data;

    private final Ed25519Key key = Ed25519Key.create("blackbox/recorder", new SecureRandom());
    private TestLog log;
    private TestRun closed;
    private TestService service;
    private ApiServer server;

    @BeforeEach
    void start() throws Exception {
        log = new TestLog(data.resolve("log")).begin();
        closed = TestEvents.smallBuild(TestRun.certified(data, log), 4);
        closed.table();
        closed.logCheckpoints(1, closed.batches.size());
        log.publish();
        Files.createDirectories(data.resolve("keys"));
        Files.writeString(data.resolve("keys/log.pub"), log.key.verifier().encoded() + "\n");
        service = TestService.in(data, () -> List.of(log.key.verifier(), key.verifier()), null);
        server = ApiServer.start(service.context(), ApiServerTest.LOOPBACK, null);
        Files.createDirectories(PICTURES);
    }

    @AfterEach
    void stop() {
        server.close();
        service.close();
    }

    @Test
    void peopleFindTheirWayInItByKeysAndByItsAddress() throws Exception {
        JsonNode said = Npm.script("console.mjs", List.of("walk", server.uri(), service.token(), closed.run, PICTURES))
                .getFirst();
        said.path("axe").properties().forEach(view -> assertEquals(List.of(), texts(view.getValue()), view.getKey()));
        assertEquals(6, said.path("axe").size(), "three views in two schemes");
        assertTrue(said.path("refused").asText().startsWith("send a valid token"), said::toString);
        assertTrue(texts(said.path("runs")).contains(closed.run.value()), said::toString);
        assertEquals(
                "#/?search=" + closed.run.value().substring(20),
                said.path("search").asText());
        assertEquals("VERIFIED, by its own keys", said.path("badge").asText());
        assertTrue(said.path("touched").asText().contains("/etc/shadow"), said::toString);
        long end = closed.nextIndex() - 1;
        assertEquals(
                "#/run/" + closed.run + "?event=" + end, said.path("address").asText());
        assertEquals(said.path("details"), said.path("again"), "the address is the state");
        assertEquals(List.of(), texts(said.path("errors")), "also what the page's policy forbids would be here");
        for (String asked : texts(said.path("asked"))) {
            assertTrue(asked.startsWith(server.uri().toString()) || asked.startsWith("blob:"), asked);
            assertFalse(asked.contains(service.token()), "a token in an address");
        }
        assertEquals(0, said.path("cookies").size());
        assertEquals(0, said.path("kept").path("local").asInt());
        assertEquals(1, said.path("kept").path("session").asInt());
        assertEquals(0, said.path("forgotten").asInt());
        assertFalse(said.path("framed").asText().contains("token"), "another site has it in a frame");
    }

    /// Whoever watches gets every event once and in order, whatever happens to the connection; once the run is closed,
    /// the browser verifies it.
    @Test
    void whatComesLiveIsWholeThroughCutConnections() throws Exception {
        RunId run = RunId.create(START, new Random(7));
        var header = EventHeader.host(START.getEpochSecond() * 1_000_000_000L);
        try (RunLock _ = RunLock.take(new DataFolder(data), run);
                Spool spool = Spool.create(data.resolve("spool"), run)) {
            var sealer = new RunSealer(run, key, spool, InstantSource.fixed(START));
            sealer.append(new Event.RunOpen(header, Text.of("live"), "{\"tier\":\"live\"}"));
            sealer.seal();
            Process watching = new ProcessBuilder(
                            "node",
                            "src/test/js/console.mjs",
                            "follow",
                            server.uri().toString(),
                            service.token(),
                            run.value(),
                            Integer.toString(CUTS))
                    .directory(Npm.MODULE.toFile())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            JsonNode said = null;
            try (BufferedReader answers = watching.inputReader(StandardCharsets.UTF_8);
                    PrintWriter asks = new PrintWriter(watching.outputWriter(StandardCharsets.UTF_8), true)) {
                int cuts = 0;
                for (String line = answers.readLine(); line != null; line = answers.readLine()) {
                    if (!line.equals("cut")) {
                        said = JSON.readTree(line);
                        continue;
                    }
                    cuts++;
                    sealer.append(new Event.VmLifecycle(header, "STOP", null));
                    sealer.append(new Event.VmLifecycle(header, "RESUME", null));
                    if (cuts == CUTS) {
                        sealer.append(new Event.RunClose(header, sealer.size(), 0, 0, null, null));
                    }
                    sealer.seal();
                    asks.println();
                }
                assertEquals(CUTS, cuts);
            } finally {
                watching.destroy();
            }
            assertEquals(0, watching.waitFor());
            List<String> all = new ArrayList<>(
                    LongStream.range(0, sealer.size()).mapToObj(Long::toString).toList());
            assertEquals(all.reversed(), texts(said == null ? JSON.createArrayNode() : said.path("shown")));
        }
    }

    private static List<String> texts(JsonNode array) {
        var texts = new ArrayList<String>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
    }
}
