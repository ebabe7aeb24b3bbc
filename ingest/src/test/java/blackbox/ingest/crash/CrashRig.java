package blackbox.ingest.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.BuiltProgram;
import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.NoteVerifier;
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
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The child processes of a crash test, what they acknowledged, and whether the table has it.
final class CrashRig {

    static final Duration PATIENCE = Duration.ofSeconds(90);

    /// Longer than a member of a group, or a broker of a cluster, may be silent.
    private static final Duration ZOMBIE = Duration.ofSeconds(7);

    private static final String LOOPBACK = "127.0.0.1:";

    private final Path data;
    private final long seed;
    private final Random random;
    private final List<Recorder> recorders = new ArrayList<>();
    private final String servers;
    private final String controllers;

    /// One of those that record, whichever process it is at the moment.
    ///
    /// @param acknowledged leaves acknowledged as recorded, by run
    private record Recorder(Ed25519Key key, Map<String, Long> acknowledged) {}

    /// One recorder and one broker.
    CrashRig(Path data, long seed) throws IOException {
        this(data, seed, 1, 1);
    }

    CrashRig(Path data, long seed, int recorders, int brokers) throws IOException {
        this.data = data;
        this.seed = seed;
        this.random = new Random(seed);
        for (int i = 0; i < recorders; i++) {
            Path folder = Files.createDirectory(recorderFolder(data, i));
            this.recorders.add(new Recorder(writeKey(folder, "recorder"), new ConcurrentHashMap<>()));
        }
        writeKey(data, "ingest");
        List<String> free = freeAddresses(2 * brokers);
        servers = String.join(",", free.subList(0, brokers));
        controllers = String.join(",", free.subList(brokers, 2 * brokers));
    }

    /// What a recorder has to itself.
    static Path recorderFolder(Path data, int recorder) {
        return data.resolve("recorder-" + recorder);
    }

    /// Their ports are none that the system gives to anybody of its own accord (Linux begins at 32768): a client
    /// that tries to reach a dead broker could be given that broker's own port, and would keep it from coming back.
    private static List<String> freeAddresses(int count) {
        return ThreadLocalRandom.current()
                .ints(10_000, 32_000)
                .filter(CrashRig::isFree)
                .distinct()
                .limit(count)
                .mapToObj(port -> LOOPBACK + port)
                .toList();
    }

    private static boolean isFree(int port) {
        try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /// Where the brokers listen.
    String servers() {
        return servers;
    }

    Random random() {
        return random;
    }

    Subject start(String role) throws IOException {
        return start(role, 0);
    }

    /// Starts one of several.
    ///
    /// @param number the recorder's, from 0 on, or the node's, from 1 on
    Subject start(String role, int number) throws IOException {
        return new Subject(role, number);
    }

    /// A child process, what it says, and whether it is ready.
    final class Subject {

        final Process process;
        final CountDownLatch ready = new CountDownLatch(1);
        private final String role;
        private final int number;
        private final Thread reader;

        Subject(String role, int number) throws IOException {
            this.role = role;
            this.number = number;
            var command = new ArrayList<>(List.of(
                    System.getProperty("java.home") + "/bin/java",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx512m"));
            command.addAll(BuiltProgram.options(System.getProperty("java.class.path")));
            command.addAll(List.of(
                    CrashSubject.class.getName(),
                    role,
                    data.toString(),
                    servers,
                    controllers,
                    Long.toString(random.nextLong()),
                    Integer.toString(number)));
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
                        recorders.get(number).acknowledged().merge(parts[0], Long.parseLong(parts[1]), Math::max);
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
        private void signal(String name) throws IOException, InterruptedException {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .start()
                    .waitFor();
        }

        /// Lets it end by itself, by ending its standard input.
        void end() throws IOException, InterruptedException {
            process.outputWriter().close();
            assertTrue(process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS), () -> role + " does not end");
            assertEquals(0, process.exitValue(), () -> errors(role));
        }

        /// Stops it until others have taken it for dead, and lets it go on.
        void makeZombie() throws IOException, InterruptedException {
            signal("STOP");
            process.waitFor(ZOMBIE.toMillis(), TimeUnit.MILLISECONDS);
            signal("CONT");
        }

        /// It may be killed; it must not end by itself.
        void assertAlive() {
            assertTrue(process.isAlive(), () -> role + " " + number + " has ended: " + errors(role));
        }
    }

    private static Ed25519Key writeKey(Path folder, String name) throws IOException {
        Ed25519Key key = Ed25519Key.create(name + ".test", new SecureRandom());
        Files.writeString(folder.resolve(name + ".key"), key.encoded());
        return key;
    }

    String errors(String role) {
        try {
            return Files.readString(data.resolve(role + ".err"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    /// How many runs each recorder has begun; the next one begins when the brokers have the one before.
    List<Integer> runs() {
        return recorders.stream().map(each -> each.acknowledged().size()).toList();
    }

    boolean isThere() throws Exception {
        EventTable table = EventTable.openForReading(new DataFolder(data));
        if (table == null) {
            return false;
        }
        try (table) {
            Map<RunId, Long> lengths = table.lengths();
            return recorders.stream()
                    .flatMap(each -> each.acknowledged().entrySet().stream())
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
            for (Recorder recorder : recorders) {
                assertHas(byRun, recorder);
            }
            List<NoteVerifier> all = recorders.stream()
                    .<NoteVerifier>map(each -> each.key().verifier())
                    .toList();
            byRun.forEach((run, rows) -> assertVerifies(run, rows, all));
            System.out.println("crash test: " + byRun.size() + " runs, "
                    + byRun.values().stream().mapToInt(List::size).sum() + " rows in " + files.size() + " files");
        }
        assertEquals("", findings(), "nothing may be refused, seed " + seed);
    }

    /// Everything that the recorder acknowledged is there, under its own signature.
    private void assertHas(Map<String, List<ReadRow>> byRun, Recorder recorder) {
        assertFalse(recorder.acknowledged().isEmpty(), () -> "a recorder has recorded nothing, seed " + seed);
        recorder.acknowledged().forEach((run, leaves) -> {
            List<ReadRow> read = byRun.getOrDefault(run, List.of());
            assertTrue(
                    read.size() >= leaves,
                    () -> run + ": " + leaves + " were recorded, " + read.size() + " rows are there, seed " + seed);
            assertVerifies(run, read, List.of(recorder.key().verifier()));
        });
    }

    /// What ingest refused, and why.
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
    private void assertVerifies(String run, List<ReadRow> rows, List<NoteVerifier> keys) {
        var tree = new MerkleFrontier();
        for (ReadRow row : rows) {
            assertEquals(tree.size(), row.index(), () -> "run " + run + ", seed " + seed);
            var prefixed = new byte[row.leaf().length + 1];
            System.arraycopy(row.leaf(), 0, prefixed, 1, row.leaf().length);
            tree.append(prefixed, 1, row.leaf().length);
            if (row.checkpoint() != null) {
                SignedNote note = SignedNote.parse(row.checkpoint());
                assertNotNull(note);
                assertNotNull(note.signedBy(keys), () -> "run " + run + ", seed " + seed);
                var expected = new Checkpoint("blackbox/run/" + run, tree.size(), tree.root());
                assertEquals(expected, Checkpoint.parse(note.text()));
            }
        }
        assertNotNull(rows.getLast().checkpoint(), () -> "run " + run + " does not end with a checkpoint");
    }
}
