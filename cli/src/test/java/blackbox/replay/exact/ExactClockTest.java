package blackbox.replay.exact;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.node.record.Installation;
import blackbox.query.run.RunFacts;
import blackbox.replay.inputs.InputCheck;
import blackbox.replay.inputs.SealedStart;
import blackbox.replay.tier.ReplayRequest;
import blackbox.replay.verdict.ClockOffset;
import blackbox.replay.verdict.Verdict;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The clock of a guest that counts instructions, beside a service on the host that says what time it is:
/// while the guest runs ahead of its own clock in tight loops and behind it in short processes, with the
/// host's processors busy.
class ExactClockTest {
    private static final int BUSY_PROCESSES = 2;
    private static final String BUSY_S_MAX = "180";
    /// Without correction, the clock was 5 to 9 s off at the end of each part. One reading may be late by as
    /// much as a busy host keeps QEMU from running; half of them are not.
    private static final double MEDIAN_S_MAX = 1.0;

    private static final double LAST_S_MAX = 3.0;
    private static final String WORK = """
            import hashlib, os, socket, time
            def ask():
                before = time.time()
                with socket.create_connection(('10.0.2.2', PORT), timeout=60) as host:
                    told = float(host.makefile().readline())
                after = time.time()
                print('off', before - told if before > told else min(0, after - told), flush=True)
            block = b'x' * (1 << 20)
            for turn in range(30):
                for i in range(20):
                    hashlib.sha256(block).digest()
                ask()
            for turn in range(15):
                for i in range(4):
                    os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)
                ask()
            """;

    @TempDir
    Path folder;

    @Test
    void itKeepsTheHostsTimeAndReplaysTheSame() throws Exception {
        Installation blackbox = Installation.in(folder);
        Installation.Ended ended;
        List<Process> busy = busy();
        try (var host = new TimeService()) {
            String[] words = {
                "record",
                "--json",
                "--tier",
                "exact",
                "--network",
                "user",
                "--",
                "python3",
                "-c",
                WORK.replace("PORT", Integer.toString(host.port()))
            };
            ended = blackbox.run(words).expect(0);
        } finally {
            busy.forEach(Process::destroy); // timeout(1) then ends what it started
        }
        List<Double> offsets = offsets(ended.out());
        assertEquals(45, offsets.size(), ended::out);
        assertTrue(Math.abs(offsets.getLast()) < LAST_S_MAX, offsets::toString);
        double median = offsets.stream().map(Math::abs).sorted().toList().get(offsets.size() / 2);
        assertTrue(median < MEDIAN_S_MAX, offsets::toString);

        var recordings = Recordings.unchecked(blackbox.data());
        RunFacts facts =
                RunFacts.read(recordings, new RunId(ended.recorded().path("run").asText()));
        JsonNode clock = Objects.requireNonNull(facts.end()).detail().path("clock");
        assertTrue(clock.path("readings").asLong() > 10, clock::toString);
        assertTrue(clock.path("forwardNs").asLong() > 0, clock::toString);
        String shown = blackbox.run("show", facts.run().value()).expect(0).out();
        String readings = " (" + clock.path("readings").asLong() + " readings, as the guest reported it)";
        assertTrue(shown.contains("guest clock   at most ") && shown.contains(readings), shown);
        Verdict verdict = replay(recordings, facts);
        assertEquals(Outcome.IDENTICAL, verdict.outcome(), verdict::toString);
        assertEquals(ClockOffset.NONE, verdict.comparison().clock());
    }

    private static Verdict replay(Recordings recordings, RunFacts facts) throws Exception {
        var replayer = new ExactReplayer();
        SealedStart start = SealedStart.of(facts);
        var check = new InputCheck(recordings, facts.run(), start, null).check(replayer.captures());
        var ready = assertInstanceOf(InputCheck.Ready.class, check, check::toString);
        return replayer.replay(
                new ReplayRequest(recordings, facts, start, ready.inputs()),
                line -> System.err.println("clock test: " + line));
    }

    private static List<Double> offsets(String out) {
        return out.lines()
                .filter(line -> line.startsWith("off "))
                .map(line -> Double.valueOf(line.substring(4)))
                .toList();
    }

    private static List<Process> busy() throws IOException {
        var processes = new ArrayList<Process>();
        for (int i = 0; i < BUSY_PROCESSES; i++) {
            processes.add(new ProcessBuilder("timeout", BUSY_S_MAX, "sha256sum", "/dev/zero").start());
        }
        return processes;
    }

    /// Sends the host's time, in seconds, to everyone who connects.
    private static final class TimeService implements AutoCloseable {
        private final ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());

        TimeService() throws IOException {
            Thread.ofPlatform().daemon().name("time-service").start(this::serve);
        }

        int port() {
            return server.getLocalPort();
        }

        private void serve() {
            while (!server.isClosed()) {
                try (Socket socket = server.accept()) {
                    Instant now = Instant.now();
                    String line = "%d.%09d%n".formatted(now.getEpochSecond(), now.getNano());
                    socket.getOutputStream().write(line.getBytes(StandardCharsets.US_ASCII));
                } catch (IOException e) {
                    System.err.println("clock test: the time service: " + e.getMessage()); // at the end by us
                }
            }
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }
}
