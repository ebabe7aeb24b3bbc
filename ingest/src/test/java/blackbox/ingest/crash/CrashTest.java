package blackbox.ingest.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `kill -9` of recorder, broker and ingest at seeded random moments: whatever was acknowledged as recorded is
/// in the table exactly once, and every run verifies. `-Dblackbox.seed=` repeats a run, `-Dblackbox.kills=`
/// sets how many.
final class CrashTest {

    private static final long SEED = Long.getLong("blackbox.seed", System.nanoTime());
    private static final int KILLS = Integer.getInteger("blackbox.kills", 50);
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    @TempDir
    Path data;

    private final Random random = new Random(SEED);

    /// Leaves acknowledged as recorded, by run.
    private final Map<String, Long> recorded = new ConcurrentHashMap<>();

    private Ed25519Key recorderKey;
    private int port;
    private Subject host;
    private Subject recorder;

    /// A child process, what it says, and whether it is ready.
    private final class Subject {

        private final Process process;
        private final CountDownLatch ready = new CountDownLatch(1);
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
                    .redirectError(new File(data.toFile(), role + ".err"))
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
    }

    @BeforeEach
    void startBoth() throws IOException {
        System.out.println("CrashTest: -Dblackbox.seed=" + SEED + ", " + KILLS + " kills");
        recorderKey = writeKey("recorder");
        writeKey("ingest");
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        host = new Subject("host");
        recorder = new Subject("recorder");
    }

    @AfterEach
    void killBoth() throws InterruptedException {
        host.kill();
        recorder.kill();
    }

    @Test
    void whatWasAcknowledgedIsThereExactlyOnce() throws Exception {
        for (int kill = 0; kill < KILLS; kill++) {
            killOne();
        }
        recorder.kill();
        drain();
        assertTable();
    }

    private Ed25519Key writeKey(String name) throws IOException {
        Ed25519Key key = Ed25519Key.create(name + ".test", new SecureRandom());
        Files.writeString(data.resolve(name + ".key"), key.encoded());
        return key;
    }

    /// Mostly lets both get to work first; sometimes kills in the middle of starting or recovering.
    private void killOne() throws Exception {
        if (random.nextInt(3) != 0) {
            host.ready.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            recorder.ready.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        }
        Subject victim = random.nextInt(5) < 3 ? host : recorder;
        victim.process.waitFor(random.nextInt(1_500), TimeUnit.MILLISECONDS);
        victim.kill();
        if (victim == host) {
            host = new Subject("host");
        } else {
            recorder = new Subject("recorder");
        }
        if (!recorder.process.isAlive()) {
            recorder = new Subject("recorder");
        }
        if (!host.process.isAlive()) {
            host = new Subject("host");
        }
    }

    private void drain() throws Exception {
        if (!host.process.isAlive()) {
            host = new Subject("host");
        }
        assertTrue(host.ready.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
        var drain = new Subject("drain");
        assertTrue(drain.process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
        assertEquals(0, drain.process.exitValue(), () -> errors("drain"));
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!isThere() && System.nanoTime() < deadline) {
            assertFalse(host.process.waitFor(200, TimeUnit.MILLISECONDS), () -> errors("host"));
        }
        host.process.outputWriter().close();
        assertTrue(host.process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
    }

    private String errors(String role) {
        try {
            return Files.readString(data.resolve(role + ".err"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    private boolean isThere() throws Exception {
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

    private void assertTable() throws Exception {
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
                        () -> run + " was recorded, " + read.size() + " rows are there, seed " + SEED);
                assertVerifies(run.getKey(), read);
                rows += read.size();
            }
            System.out.println(
                    "CrashTest: " + recorded.size() + " runs, " + rows + " rows in " + files.size() + " files");
        }
        assertEquals("", findings(), "nothing may be refused, seed " + SEED);
    }

    /// What ingest refused, and why. A recorder that is killed within a write leaves a torn end of its spool, which
    /// nobody acknowledged; recovery moves it to the same folder, and it is no refusal.
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
            assertEquals(tree.size(), row.index(), () -> "run " + run + ", seed " + SEED);
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
