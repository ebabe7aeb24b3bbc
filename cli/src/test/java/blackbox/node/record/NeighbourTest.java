package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import blackbox.cli.OrdinaryUser;
import blackbox.node.record.Installation.Ended;
import blackbox.node.record.Installation.Running;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// While one user records, another one of the same machine tries what [Neighbour] has. Nothing is learnt, and the run
/// is whole.
class NeighbourTest {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int ATTEMPTS_MIN = 20;
    private static final String LISTENING = "0A";

    /// In the agent's command, and in a variable of its environment.
    private static final List<String> SECRETS = List.of("word-of-the-command", "word-of-a-variable");

    @TempDir
    Path folder;

    private OrdinaryUser neighbour;

    @BeforeEach
    void make() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can be two users");
        // The data folder itself keeps others out, not where it is.
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        neighbour = OrdinaryUser.make();
    }

    @AfterEach
    void close() throws Exception {
        if (neighbour != null) {
            neighbour.close();
        }
    }

    @Test
    void anotherUserLearnsNothingAndTheRunIsWhole() throws Exception {
        Installation blackbox = Installation.in(folder);
        String agent = "echo begun; cat > /dev/null; echo " + SECRETS.getFirst();
        Running run = blackbox.start(new ProcessBuilder(Installation.command(
                "record", "--json", "--env", "TOKEN=" + SECRETS.getLast(), "--", "sh", "-c", agent)));
        String said;
        Path sockets;
        try {
            run.awaitOutput();
            sockets = sockets(blackbox);
            Set<Integer> ports = awaitPorts(run.process());
            said = attempts(blackbox, run, ports);
        } finally {
            run.process().outputWriter().close();
        }
        Ended ended = run.await().expect(0);
        List<String> lines = said.lines().toList();
        long refused = lines.stream().filter(line -> line.startsWith("refused")).count();
        System.out.println("another user: " + refused + " of " + lines.size() + " attempts were refused");
        assertEquals(lines.size(), refused, said);
        assertTrue(refused >= ATTEMPTS_MIN, said);
        // The sockets between QEMU and its recorder are in QEMU's network namespace: here they have no names. (A run
        // of another test may be saving a snapshot just now; its socket has one.)
        assertFalse(said.contains("connect to " + sockets), said);
        assertTrue(said.contains("refused: open "), said);
        JsonNode recorded = ended.recorded();
        assertEquals("CLOSED", recorded.path("state").asText());
        assertEquals(0, recorded.path("lost").asLong());
        blackbox.verifyComplete(recorded.path("run").asText());
        assertFalse(Files.exists(blackbox.data().resolve("pipeline.properties")), "its pipeline has ended");
    }

    private String attempts(Installation blackbox, Running run, Set<Integer> ports) throws Exception {
        Path classes = Path.of(neighbour.launcher()).resolveSibling("cli/target/test-classes");
        var tried = neighbour.run(
                neighbour.command(
                        System.getProperty("java.home") + "/bin/java",
                        "-cp",
                        classes.toString(),
                        Neighbour.class.getName(),
                        blackbox.data().toString(),
                        run.process().pid() + "," + run.qemu().pid(),
                        ports.stream().map(String::valueOf).collect(Collectors.joining(",")),
                        SECRETS.getFirst(),
                        SECRETS.getLast()),
                PATIENCE);
        assertEquals(0, tried.exitCode(), tried.said());
        return tried.said();
    }

    /// The folder of the run's sockets.
    private static Path sockets(Installation blackbox) throws IOException {
        try (Stream<Path> machines = Files.list(new DataFolder(blackbox.data()).machines())) {
            return machines.toList().getFirst().resolve("sockets").toRealPath();
        }
    }

    /// Where the recorder listens, once its broker and its controller do.
    private static Set<Integer> awaitPorts(Process recorder) throws Exception {
        Set<Integer> ports = ports(recorder.pid());
        for (long deadline = System.nanoTime() + PATIENCE.toNanos(); ports.size() < 2; ) {
            assertTrue(System.nanoTime() < deadline, "the broker does not listen");
            assertFalse(recorder.waitFor(Duration.ofMillis(100)), "the recorder has ended");
            ports = ports(recorder.pid());
        }
        return ports;
    }

    private static Set<Integer> ports(long pid) throws IOException {
        Path process = Path.of("/proc", Long.toString(pid));
        var sockets = new HashSet<String>();
        try (Stream<Path> descriptors = Files.list(process.resolve("fd"))) {
            for (Path each : descriptors.toList()) {
                if (Files.isSymbolicLink(each)) { // otherwise it was closed meanwhile
                    sockets.add(Files.readSymbolicLink(each).toString());
                }
            }
        }
        var ports = new TreeSet<Integer>();
        for (String table : List.of("net/tcp", "net/tcp6")) {
            for (String line : Files.readAllLines(process.resolve(table))) {
                String[] fields = line.strip().split("\\s+");
                if (fields[3].equals(LISTENING) && sockets.contains("socket:[" + fields[9] + "]")) {
                    ports.add(Integer.parseInt(fields[1].substring(fields[1].indexOf(':') + 1), 16));
                }
            }
        }
        return ports;
    }
}
