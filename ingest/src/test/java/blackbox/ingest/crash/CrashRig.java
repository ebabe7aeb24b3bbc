package blackbox.ingest.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.BuiltProgram;
import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.ingest.DuckRows;
import blackbox.ingest.DuckRows.ReadRow;
import blackbox.ingest.table.DataFileEntry;
import blackbox.ingest.table.EventTable;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The child processes of a crash test, what they acknowledged, and whether the table has it.
final class CrashRig {

    static final Duration PATIENCE = Duration.ofSeconds(90);

    private final Path data;
    private final long seed;
    private final Random random;

    /// Leaves acknowledged as recorded, by run.
    private final Map<String, Long> recorded = new ConcurrentHashMap<>();

    private final Ed25519Key recorderKey;
    private final int port;

    CrashRig(Path data, long seed) throws IOException {
        this.data = data;
        this.seed = seed;
        this.random = new Random(seed);
        recorderKey = writeKey("recorder");
        writeKey("ingest");
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
    }

    Random random() {
        return random;
    }

    Subject start(String role) throws IOException {
        return new Subject(role);
    }

    /// A child process, what it says, and whether it is ready.
    final class Subject {

        final Process process;
        final CountDownLatch ready = new CountDownLatch(1);
        private final Thread reader;

        Subject(String role) throws IOException {
            var command = new ArrayList<>(List.of(
                    System.getProperty("java.home") + "/bin/java",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx512m"));
            String classes = System.getProperty("java.class.path");
            command.addAll(BuiltProgram.current()
                    .map(built -> built.classPath(classes))
                    .orElse(List.of("--enable-native-access=ALL-UNNAMED", "-cp", classes)));
            command.addAll(List.of(
                    CrashSubject.class.getName(),
                    role,
                    data.toString(),
                    Integer.toString(port),
                    Long.toString(random.nextLong())));
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.appendTo(new File(data.toFile(), role + ".err")))
                    .start();
            reader = Thread.ofPlatform().daemon().start(this::read);
        }

        private void read() {
            try (BufferedReader lines = process.inputReader()) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.equals("ready")) {
                        ready.countDown();
                    } else {
                        String[] parts = line.split(" ");
                        recorded.merge(parts[0], Long.parseLong(parts[1]), Math::max);
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                ready.countDown();
            }
        }

        void kill() throws InterruptedException {
            process.toHandle().destroyForcibly();
            process.waitFor();
            reader.join();
        }

        void awaitReady() throws InterruptedException {
            assertTrue(ready.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
        }

        /// Sends a signal by its name, as `kill` does.
        void signal(String name) throws IOException, InterruptedException {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .start()
                    .waitFor();
        }

        /// Lets it end by itself, by ending its standard input.
        void end() throws IOException, InterruptedException {
            process.outputWriter().close();
            assertTrue(process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
        }
    }

    private Ed25519Key writeKey(String name) throws IOException {
        Ed25519Key key = Ed25519Key.create(name + ".test", new SecureRandom());
        Files.writeString(data.resolve(name + ".key"), key.encoded());
        return key;
    }

    String errors(String role) {
        try {
            return Files.readString(data.resolve(role + ".err"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    boolean isThere() throws Exception {
        EventTable table = EventTable.openForReading(new DataFolder(data));
        if (table == null) {
            return false;
        }
        try (table) {
            Map<RunId, Long> lengths = table.lengths();
            return recorded.entrySet().stream()
                    .allMatch(entry -> lengths.getOrDefault(new RunId(entry.getKey()), 0L) >= entry.getValue());
        }
    }

    void assertTable() throws Exception {
        EventTable table = EventTable.openForReading(new DataFolder(data));
        assertNotNull(table);
        try (table) {
            List<Path> files =
                    table.plan(null).stream().map(DataFileEntry::path).toList();
            Map<String, List<ReadRow>> byRun =
                    DuckRows.read(files).stream().collect(Collectors.groupingBy(ReadRow::run));
            long rows = 0;
            for (Map.Entry<String, Long> run : recorded.entrySet()) {
                List<ReadRow> read = byRun.getOrDefault(run.getKey(), List.of());
                assertTrue(
                        read.size() >= run.getValue(),
                        () -> run + " was recorded, " + read.size() + " rows are there, seed " + seed);
                assertVerifies(run.getKey(), read);
                rows += read.size();
            }
            System.out.println(
                    "crash test: " + recorded.size() + " runs, " + rows + " rows in " + files.size() + " files");
        }
        assertEquals("", findings(), "nothing may be refused, seed " + seed);
    }

    /// What ingest refused, and why. A recorder that is killed within a write leaves a torn end of its
    /// spool, which nobody acknowledged; recovery moves it to the same folder, and it is no refusal.
    private String findings() throws IOException {
        Path quarantine = data.resolve("quarantine");
        if (!Files.exists(quarantine)) {
            return "";
        }
        var found = new StringBuilder();
        try (Stream<Path> files = Files.walk(quarantine)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".json")).toList()) {
                found.append(Files.readString(file)).append('\n');
            }
        }
        return found.toString();
    }

    /// Every index once, in order, and every checkpoint signed and true of the leaves before it.
    private void assertVerifies(String run, List<ReadRow> rows) {
        var tree = new MerkleFrontier();
        for (ReadRow row : rows) {
            assertEquals(tree.size(), row.index(), () -> "run " + run + ", seed " + seed);
            var prefixed = new byte[row.leaf().length + 1];
            System.arraycopy(row.leaf(), 0, prefixed, 1, row.leaf().length);
            tree.append(prefixed, 1, row.leaf().length);
            if (row.checkpoint() != null) {
                SignedNote note = SignedNote.parse(row.checkpoint());
                assertNotNull(note);
                assertNotNull(note.signedBy(List.of(recorderKey.verifier())));
                var expected = new Checkpoint("blackbox/run/" + run, tree.size(), tree.root());
                assertEquals(expected, Checkpoint.parse(note.text()));
            }
        }
        assertNotNull(rows.getLast().checkpoint(), () -> "run " + run + " does not end with a checkpoint");
    }
}
