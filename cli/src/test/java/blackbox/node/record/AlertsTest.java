package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Rules find what an agent does while it does it: it is sealed, told to a webhook, and stops the run; and the same is
/// found again in the table.
class AlertsTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    /// A program of its own below /tmp, then what the own rule is about, and after the pause something more.
    private static final String AGENT = "echo up; cp /bin/true /tmp/made; /tmp/made; rm -f /tmp/made;"
            + " /usr/bin/id > /dev/null; read line; /usr/bin/nproc > /dev/null; echo \"got $line\"";

    private static final String OWN = """
            title: Somebody asks who they are
            id: own-rule
            logsource: {product: linux, category: process_creation}
            detection:
                selection:
                    Image|endswith: /id
                    ParentImage|endswith: sh
                condition: selection
            level: critical
            """;

    @TempDir
    Path folder;

    @Test
    void alertsAreSealedToldAndStopTheRun() throws Exception {
        Installation blackbox = Installation.in(folder);
        Path own = Files.writeString(folder.resolve("own.yml"), OWN);
        BlockingQueue<JsonNode> got = new LinkedBlockingQueue<>();
        var receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            try (exchange) {
                got.add(JSON.readTree(exchange.getRequestBody()));
                exchange.sendResponseHeaders(204, -1);
            }
        });
        receiver.start();
        Running running;
        JsonNode critical;
        Instant told;
        try {
            String to = "http://127.0.0.1:" + receiver.getAddress().getPort() + "/";
            List<String> command = Installation.command(
                    "record",
                    "--json",
                    "--tier",
                    "live",
                    "--rules",
                    "agents",
                    "--rules",
                    own.toString(),
                    "--pause-on",
                    "critical",
                    "--webhook",
                    to,
                    "--",
                    "sh",
                    "-c",
                    AGENT);
            running = blackbox.start(new ProcessBuilder(command));
            critical = await(got, "own-rule");
            told = Instant.now();
            running.awaitOutput();
            assertEquals("already", command(blackbox, "pause").path("outcome").asText());
            assertEquals("done", command(blackbox, "resume").path("outcome").asText());
            try (OutputStream input = running.process().getOutputStream()) {
                input.write("go on\n".getBytes(StandardCharsets.UTF_8));
            }
        } finally {
            receiver.stop(0);
        }
        Ended ended = running.await().expect(0).saying("alerts: ");
        assertEquals("up\ngot go on\n", ended.out());
        String run = ended.recorded().path("run").asText();

        JsonNode verified = blackbox.run("verify", run, "--json").expect(0).json();
        assertEquals("COMPLETE", verified.path("completeness").asText(), verified::toString);
        JsonNode pause = verified.path("control").path("commands").path(0);
        assertEquals("rule", pause.path("via").asText(), verified::toString);
        assertTrue(pause.path("reason").asText().startsWith("Somebody asks who they are"), pause::toString);
        assertEquals(0, verified.path("control").path("guestEventsWhilePaused").asInt());
        String shown = blackbox.run("show", run).expect(0).out();
        assertTrue(shown.contains("alert         critical  Somebody asks who they are"), shown);
        assertSoon(blackbox, run, critical, told);
        assertFoundAgain(blackbox, run, own);
    }

    private static JsonNode await(BlockingQueue<JsonNode> got, String rule) throws InterruptedException {
        while (true) {
            JsonNode next = got.poll(300, TimeUnit.SECONDS);
            assertTrue(next != null, "no alert of " + rule);
            if (next.path("rule").path("id").asText().equals(rule)) {
                return next;
            }
        }
    }

    private static JsonNode command(Installation blackbox, String word) throws Exception {
        return blackbox.run(word, "last", "--reason", "of a test", "--json")
                .expect(0)
                .json();
    }

    /// From what the agent did to the alert, to who is told, and to the guest that stands still.
    private static void assertSoon(Installation blackbox, String run, JsonNode critical, Instant told)
            throws Exception {
        long index = critical.path("indexes").path(0).asLong();
        Instant did = null;
        Instant alerted = null;
        Instant paused = null;
        for (JsonNode event : blackbox.events(run)) {
            Instant at = Instant.parse(event.path("at").asText());
            if (event.path("index").asLong() == index) {
                assertEquals("/usr/bin/id", event.path("exe").asText());
                did = at;
            } else if (event.path("index").asLong() == critical.path("index").asLong()) {
                assertEquals("recorder.alert", event.path("kind").asText());
                alerted = at;
            } else if (alerted != null
                    && paused == null
                    && event.path("kind").asText().equals("vm.lifecycle")
                    && event.path("what").asText().equals("STOP")) {
                paused = at;
            }
        }
        Duration toAlert = Duration.between(did, alerted);
        Duration toPause = Duration.between(did, paused);
        Duration toTold = Duration.between(did, told);
        System.out.println("from what was done to the alert " + toAlert.toMillis() + " ms, to the pause "
                + toPause.toMillis() + " ms, to the webhook " + toTold.toMillis() + " ms");
        // Goals on a quiet machine: 500 ms and 1 s. This machine may be busy.
        assertTrue(toAlert.toMillis() < 5_000, toAlert::toString);
        assertTrue(toPause.toMillis() < 10_000, toPause::toString);
    }

    private static void assertFoundAgain(Installation blackbox, String run, Path own) throws Exception {
        Set<String> live = new TreeSet<>();
        for (JsonNode event : blackbox.events(run, "recorder.alert")) {
            JsonNode detail = event.path("detail");
            live.add(event.path("what").asText() + " " + detail.path("indexes"));
        }
        JsonNode hunted = blackbox.run("rules", "hunt", run, "--rules", "agents", "--rules", own.toString(), "--json")
                .expect(0)
                .json();
        List<String> found = new ArrayList<>();
        hunted.path("matches")
                .forEach(match -> found.add(match.path("rule").path("id").asText() + " " + match.path("indexes")));
        assertEquals(live, new TreeSet<>(found));
        assertEquals(live.size(), found.size(), "each once");
        Set<String> titles = new TreeSet<>();
        hunted.path("matches")
                .forEach(match -> titles.add(match.path("rule").path("title").asText()));
        assertTrue(
                titles.containsAll(Set.of(
                        "A program was run from a folder for temporary files, or from memory",
                        "A program was run that the run itself had made",
                        "Somebody asks who they are")),
                titles::toString);
        JsonNode rules = blackbox.events(run, "recorder.rules").getLast();
        assertEquals(hunted.path("digest"), rules.path("what"));
        assertEquals(found.size(), rules.path("detail").path("matches").asInt());
    }
}
