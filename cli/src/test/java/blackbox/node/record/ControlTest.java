package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.OutputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A run is paused, goes on and is ended from outside, whatever its guest does, and the record says who wanted it, and
/// that it could have been done all the time.
class ControlTest {

    private static final long SECOND_NS = 1_000_000_000L;

    /// It starts processes all the time, until it is told something.
    private static final String SPINNING =
            "echo up; (while :; do /bin/true; done) & read line; kill $!; /usr/bin/id > /dev/null; echo \"got $line\"";

    @TempDir
    static Path folder;

    private static Installation blackbox;

    @BeforeAll
    static void install() throws Exception {
        blackbox = Installation.in(folder);
    }

    @ParameterizedTest
    @ValueSource(strings = {"live", "exact"})
    void aSpinningGuestStandsStillUntilItIsToldToGoOn(String tier) throws Exception {
        Running running = start(tier, SPINNING);
        running.awaitOutput();
        List<SocketChannel> hostile = hostileCallers();
        JsonNode paused = command("pause");
        assertEquals("done", paused.path("outcome").asText(), paused::toString);
        assertTrue(paused.path("tookNs").asLong() < SECOND_NS, paused::toString);
        assertTrue(paused.path("why").isNull(), paused::toString);
        for (SocketChannel each : hostile) {
            each.close();
        }
        assertEquals("already", command("pause").path("outcome").asText());
        awaitProbe("paused");
        assertEquals("done", command("resume").path("outcome").asText());
        try (OutputStream input = running.process().getOutputStream()) {
            input.write("go on\n".getBytes(StandardCharsets.UTF_8));
        }
        Ended ended = running.await().expect(0);
        assertEquals("up\ngot go on\n", ended.out());
        String run = ended.recorded().path("run").asText();

        JsonNode verified = blackbox.run("verify", run, "--json").expect(0).json();
        assertEquals("COMPLETE", verified.path("completeness").asText(), verified::toString);
        JsonNode control = verified.path("control");
        assertTrue(control.path("armed").asBoolean(), verified::toString);
        assertTrue(control.path("probes").asInt() >= 2, verified::toString);
        assertEquals(0, control.path("guestEventsWhilePaused").asInt(), verified::toString);
        List<String> commands = StreamSupport.stream(control.path("commands").spliterator(), false)
                .map(each -> each.path("command").asText() + " "
                        + each.path("outcome").asText() + " "
                        + each.path("reason").asText())
                .toList();
        assertEquals(List.of("pause done of a test", "pause already of a test", "resume done of a test"), commands);
        assertEquals(
                System.getProperty("user.name"),
                control.path("commands").path(0).path("user").asText());
        assertTold(run, tier.equals("exact") ? Duration.ofMillis(500) : Duration.ZERO);
        if (tier.equals("exact")) {
            String verdict = blackbox.run("replay", run, "--json")
                    .expect(0)
                    .json()
                    .path("verdict")
                    .asText();
            assertEquals("IDENTICAL", verdict);
        }
    }

    /// The guest's events stand before the pause or after its end, by their place and by their time.
    ///
    /// @param early how much earlier a guest whose clock has a pace of its own may seem to do something
    private static void assertTold(String run, Duration early) throws Exception {
        Instant resumed = null;
        boolean standsStill = false;
        boolean idAfter = false;
        for (JsonNode event : blackbox.events(run)) {
            if (event.path("kind").asText().equals("control.command")) {
                standsStill = event.path("what").asText().equals("pause");
                resumed = standsStill ? null : Instant.parse(event.path("at").asText());
            }
            boolean ofGuest = event.path("source").asText().equals("guest");
            assertFalse(ofGuest && standsStill, event::toString);
            if (ofGuest && resumed != null && event.path("exe").asText().equals("/usr/bin/id")) {
                Instant at = Instant.parse(event.path("at").asText());
                assertTrue(
                        at.plus(early).isAfter(resumed),
                        "it came at " + at + ", after the end of the pause at " + resumed);
                idAfter = true;
            }
        }
        assertTrue(idAfter, "what it did afterwards is there");
    }

    @Test
    void aRunThatIsEndedIsClosedAndSaysByWhom() throws Exception {
        Running running = start("live", SPINNING);
        running.awaitOutput();
        JsonNode killed = command("kill");
        assertEquals("done", killed.path("outcome").asText(), killed::toString);
        Ended ended = running.await().expect(137);
        assertEquals("CLOSED", ended.recorded().path("state").asText());
        String run = ended.recorded().path("run").asText();
        JsonNode verified = blackbox.run("verify", run, "--json").expect(1).json();
        assertEquals("VERIFIED", verified.path("integrity").asText());
        assertEquals("UNKNOWN", verified.path("completeness").asText(), "what the guest still held is not known");
        assertEquals(
                "kill",
                verified.path("control")
                        .path("commands")
                        .path(0)
                        .path("command")
                        .asText());
        assertEquals(0, verified.path("control").path("guestEventsWhilePaused").asInt());
        String shown = blackbox.run("show", run).expect(0).out();
        assertTrue(shown.contains("kill done, by " + System.getProperty("user.name") + " (cli): of a test"), shown);
        blackbox.run("pause", run, "--reason", "too late").expect(2).saying("is not being recorded");
    }

    @Test
    void aPausedRunWhoseRecorderIsKilledLeavesNoMachine() throws Exception {
        Running running = start("live", SPINNING);
        running.awaitOutput();
        command("pause");
        ProcessHandle qemu = running.qemu();
        running.process().destroyForcibly().waitFor();
        qemu.onExit().get(20, TimeUnit.SECONDS);
        blackbox.run("resume", "last", "--reason", "of a test").expect(2).saying("is not being recorded");
    }

    private static Running start(String tier, String agent) throws Exception {
        List<String> command = Installation.command("record", "--json", "--tier", tier, "--", "sh", "-c", agent);
        return blackbox.start(new ProcessBuilder(command));
    }

    private static JsonNode command(String word) throws Exception {
        return blackbox.run(word, "last", "--reason", "of a test", "--json")
                .expect(0)
                .json();
    }

    /// Until the record says that the machine was found so: some seconds.
    private static void awaitProbe(String machine) throws Exception {
        long deadline = System.nanoTime() + 60 * SECOND_NS;
        while (System.nanoTime() < deadline) {
            List<JsonNode> probes = blackbox.events("last", "control.probe");
            if (probes.getLast().path("what").asText().equals(machine)) {
                return;
            }
        }
        throw new AssertionError("no probe found it " + machine);
    }

    /// Callers that say nothing, nonsense or half of it keep nobody from commanding.
    private static List<SocketChannel> hostileCallers() throws Exception {
        String newest = blackbox.names("runs").getLast();
        Path link = blackbox.data().resolve("runs").resolve(newest).resolve("control");
        var address = UnixDomainSocketAddress.of(Files.readSymbolicLink(link));
        var callers = new ArrayList<SocketChannel>();
        for (String said : List.of("", "nonsense\n", "{\"command\":\"destroy\"}\n", "{\"comm", "x".repeat(9000))) {
            SocketChannel caller = SocketChannel.open(address);
            caller.write(ByteBuffer.wrap(said.getBytes(StandardCharsets.UTF_8)));
            callers.add(caller);
        }
        for (int i = 0; i < 10; i++) {
            callers.add(SocketChannel.open(address));
        }
        return callers;
    }
}
