package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.BuiltProgram;
import blackbox.files.Folders;
import blackbox.files.ProcessLock;
import blackbox.node.image.LocalImages;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.image.GuestImageBuilder.LockPolicy;
import blackbox.vm.machine.TierOption;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// `blackbox` with a data folder of its own, each command a process of its own, as users run it, but for [those
/// that only read, and recordings that nothing is given to][WarmCommands]. Image, QEMU and snapshots are shared by all
/// tests of the build: created on first use, which takes minutes, and linked in here.
///
/// @param folder holds the data folder and what commands print
public record Installation(Path folder) {

    private static final long PATIENCE_SECONDS = 600;

    /// What is the same for all installations, and too expensive to make twice.
    private static final List<String> SHARED = List.of("images", "archive", "snapshots", "cache", "qemu");

    /// Commands that read gigabytes only to hash them.
    private static final Set<String> HASHING = Set.of("disk", "image", "replay");

    /// How a command ended.
    public record Ended(int exitCode, String out, String err) {

        public JsonNode json() throws IOException {
            return new ObjectMapper().readTree(out);
        }

        /// The document that `record --json` prints at the end.
        public JsonNode recorded() throws IOException {
            List<String> lines = err.strip().lines().toList();
            return new ObjectMapper().readTree(lines.getLast());
        }

        /// The sentences for people; any other line would come from a library or the JVM.
        List<String> sentences() {
            return err.lines().filter(line -> line.startsWith("blackbox: ")).toList();
        }

        public Ended expect(int code) {
            assertEquals(code, exitCode, () -> "exit code; it said:\n" + out + err);
            return this;
        }

        public Ended saying(String words) {
            assertTrue(err.contains(words), () -> "nothing about '" + words + "' in:\n" + err);
            return this;
        }
    }

    /// A command that runs. Its output goes to files.
    public record Running(Process process, Path out, Path err) {

        public Ended await() throws IOException, InterruptedException {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                String said = Files.readString(err) + ProcessStacks.of(process, out);
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly().waitFor();
                throw new AssertionError("the command did not end; it said:\n" + said);
            }
            return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
        }

        /// Waits until something has been printed.
        public void awaitOutput() throws IOException, InterruptedException {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (Files.size(out) == 0) {
                boolean ended = process.waitFor(50, TimeUnit.MILLISECONDS);
                assertTrue(!ended && System.nanoTime() < deadline, () -> "no output; it said:\n" + read(err));
            }
        }

        /// The QEMU that it started.
        public ProcessHandle qemu() {
            return machine().orElseThrow();
        }

        /// Waits for it. One that only says its version is gone in a moment, so it must not be looked for
        /// twice.
        ProcessHandle awaitQemu() throws InterruptedException {
            Optional<ProcessHandle> found = machine();
            while (found.isEmpty()) {
                assertTrue(!process.waitFor(10, TimeUnit.MILLISECONDS), () -> "it ended; it said:\n" + read(err));
                found = machine();
            }
            return found.get();
        }

        private Optional<ProcessHandle> machine() {
            return process.descendants().filter(Installation::isQemu).findFirst();
        }

        private static String read(Path file) {
            try {
                return Files.readString(file);
            } catch (IOException e) {
                return e.toString();
            }
        }
    }

    /// Whether it is a QEMU, and not what confines one and has its command line as arguments.
    public static boolean isQemu(ProcessHandle process) {
        String program = process.info().command().orElse("");
        // An unpacked QEMU is an argument of its own loader.
        return program.endsWith("/qemu-system-x86_64")
                || program.contains("/ld-linux")
                        && process.info().commandLine().orElse("").contains("qemu-system");
    }

    public static Installation in(Path folder) throws Exception {
        Path shared = shared();
        Path data = folder.resolve("data");
        Folders.createPrivate(data);
        for (String each : SHARED) {
            Files.createSymbolicLink(data.resolve(each), shared.resolve(each));
        }
        return new Installation(folder);
    }

    /// The data folder whose image and snapshot all tests share.
    public static synchronized Path shared() throws Exception {
        Path data = Path.of(System.getProperty("blackbox.test.data", "../target/test-data"))
                .toAbsolutePath()
                .normalize();
        for (String each : SHARED) {
            Files.createDirectories(data.resolve(each));
        }
        // Test classes run in two processes at the same time.
        try (ProcessLock _ = ProcessLock.take(data.resolve("test-lock"))) {
            var images = new LocalImages(new DataFolder(data), Installation::say);
            if (images.list().stream().noneMatch(image -> image.name().equals(LocalImages.DEFAULT))) {
                images.build(LocalImages.DEFAULT, null, LockPolicy.PREFER, LocalImages.Mirrors.OWN);
            }
            images.prepare(TierOption.AUTO, images.open(LocalImages.DEFAULT), null);
        }
        return data;
    }

    private static void say(String line) {
        System.err.println("record test: " + line);
    }

    public Path data() {
        return folder.resolve("data");
    }

    /// Runs a command to its end, with nothing to read.
    public Ended run(String... arguments) throws IOException, InterruptedException {
        Path out = Files.createTempFile(folder, "out", ".txt");
        Path err = Files.createTempFile(folder, "err", ".txt");
        OptionalInt code = WarmCommands.run(data(), out, err, arguments);
        return code.isPresent()
                ? new Ended(code.getAsInt(), Files.readString(out), Files.readString(err))
                : start(arguments).await();
    }

    /// Verifies a run, of which nothing may be missing.
    public void verifyComplete(String run) throws IOException, InterruptedException {
        Ended verified = run("verify", run, "--json").expect(0);
        assertEquals("COMPLETE", verified.json().path("completeness").asText());
    }

    public Running start(String... arguments) throws IOException {
        return start(new ProcessBuilder(command(arguments)).redirectInput(new File("/dev/null")));
    }

    /// Starts a process of any kind with this installation as the default one.
    public Running start(ProcessBuilder builder) throws IOException {
        Path out = Files.createTempFile(folder, "out", ".txt");
        Path err = Files.createTempFile(folder, "err", ".txt");
        builder.environment().put("BLACKBOX_DATA", data().toString());
        return new Running(
                builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start(), out, err);
    }

    /// The command line of `blackbox` with these arguments: of what `make build` made, if that is of these
    /// classes.
    public static List<String> command(String... arguments) {
        var command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC"));
        // Without C2 `record` takes half the processor time, but SHA-256 much more (docs/decisions/0165).
        if (arguments.length == 0 || !HASHING.contains(arguments[0])) {
            command.add("-XX:TieredStopAtLevel=1");
        }
        command.add("-Xmx512m");
        command.addAll(BuiltProgram.current()
                .map(BuiltProgram::program)
                .orElse(List.of(
                        "--sun-misc-unsafe-memory-access=allow", // as the launcher has it, or the JVM warns
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "blackbox.cli.Main")));
        command.addAll(List.of(arguments));
        return command;
    }

    /// A run's events of one kind.
    List<JsonNode> events(String run, String kind) throws IOException, InterruptedException {
        return lines(run("events", run, "--json", "--kind", kind));
    }

    /// All of a run's events.
    List<JsonNode> events(String run) throws IOException, InterruptedException {
        return lines(run("events", run, "--json"));
    }

    private static List<JsonNode> lines(Ended events) throws IOException {
        var json = new ObjectMapper();
        var read = new ArrayList<JsonNode>();
        for (String line :
                events.expect(0).out().lines().filter(each -> !each.isBlank()).toList()) {
            read.add(json.readTree(line));
        }
        return read;
    }

    /// The names in a folder of the data folder; none when it is not there.
    List<String> names(String within) throws IOException {
        Path place = data().resolve(within);
        if (!Files.isDirectory(place)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(place)) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }
}
