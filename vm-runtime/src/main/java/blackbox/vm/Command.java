package blackbox.vm;

import blackbox.vm.VmException.Code;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// One run of an external tool with a clean environment, a time limit and a bound on how much of its output
/// is kept.
///
/// @param argv program and arguments; a program without a slash is looked up by [#find], regardless of the
///     user's `PATH`
/// @param directory where it runs; null for this process's own
/// @param environment added to a fixed `PATH`, `HOME` and `LC_ALL=C.UTF-8`, which replace the inherited environment
/// @param timeout after which it is killed
public record Command(List<String> argv, @Nullable Path directory, Map<String, String> environment, Duration timeout) {
    private static final int OUTPUT_BYTES_MAX = 64 << 20;
    private static final int ERROR_BYTES_KEPT = 4096;
    /// Not a user's home, so that no tool reads or writes a person's settings.
    private static final String HOME = "/nonexistent";

    private static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    public Command {
        argv = List.copyOf(argv);
        environment = Map.copyOf(environment);
        if (argv.isEmpty()) {
            throw new IllegalArgumentException("a command needs a program");
        }
    }

    /// A command with a time limit of a minute and no other settings.
    public static Command of(String... argv) {
        return new Command(List.of(argv), null, Map.of(), Duration.ofMinutes(1));
    }

    /// The same command, run in `directory`.
    public Command in(Path where) {
        return new Command(argv, where, environment, timeout);
    }

    /// The same command, with one more environment variable.
    public Command with(String name, String value) {
        var more = new TreeMap<>(environment);
        more.put(name, value);
        return new Command(argv, directory, more, timeout);
    }

    /// The same command, with another time limit.
    public Command within(Duration limit) {
        return new Command(argv, directory, environment, limit);
    }

    /// Where a program is on the fixed `PATH`, or null.
    public static @Nullable Path find(String program) {
        return Stream.of(PATH.split(":"))
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    /// Runs to the end and returns standard output.
    ///
    /// @throws VmException `TOOL_MISSING`, `TOOL_FAILED` with the last line of its standard error, `TIMEOUT`
    public String run() throws VmException {
        Outcome outcome = attempt();
        if (outcome.exit() != 0) {
            throw new VmException(
                    Code.TOOL_FAILED,
                    argv.getFirst() + " ended with " + outcome.exit() + ": " + lastLine(outcome.errors()));
        }
        return outcome.output();
    }

    /// Runs to the end, and leaves the meaning of the exit code to the caller.
    ///
    /// @throws VmException `TOOL_MISSING`, `TIMEOUT`
    public Outcome attempt() throws VmException {
        Process process = start();
        var error = new Tail();
        // Platform threads: a virtual one that reads a pipe blocks its carrier, and there may be only two of those.
        Thread errors = Thread.ofPlatform().start(() -> error.drain(process.getErrorStream()));
        var output = new ByteArrayOutputStream();
        Thread outputs = Thread.ofPlatform().start(() -> copyBounded(process.getInputStream(), output));
        await(process);
        join(errors);
        join(outputs);
        return new Outcome(process.exitValue(), output.toString(StandardCharsets.UTF_8), error.text());
    }

    /// How a tool ended.
    ///
    /// @param output its standard output
    /// @param errors the last kilobytes of its standard error
    public record Outcome(int exit, String output, String errors) {}

    /// Starts the tool; the caller owns its streams and waits for its end.
    public Process start() throws VmException {
        return start(ProcessBuilder.Redirect.PIPE);
    }

    /// Starts the tool with its standard error going to a file.
    public Process start(Path errors) throws VmException {
        return start(ProcessBuilder.Redirect.to(errors.toFile()));
    }

    private Process start(ProcessBuilder.Redirect errors) throws VmException {
        var words = new ArrayList<>(argv);
        words.set(0, program());
        var builder = new ProcessBuilder(words);
        builder.environment().clear();
        builder.environment().put("PATH", PATH);
        builder.environment().put("HOME", HOME);
        builder.environment().put("LC_ALL", "C.UTF-8");
        builder.environment().putAll(environment);
        if (directory != null) {
            builder.directory(directory.toFile());
        }
        builder.redirectError(errors);
        try {
            return builder.start();
        } catch (IOException e) {
            throw missing(e);
        }
    }

    /// The first word as a path: the JVM would look it up on its own `PATH`, which on Debian has no sbin for users.
    private String program() throws VmException {
        String name = argv.getFirst();
        if (name.contains("/")) {
            return name;
        }
        Path found = find(name);
        if (found == null) {
            throw missing(null);
        }
        return found.toString();
    }

    private VmException missing(@Nullable IOException cause) {
        String what =
                "the program '" + argv.getFirst() + "' could not be started; `blackbox doctor` says what to install";
        return cause == null
                ? new VmException(Code.TOOL_MISSING, what)
                : new VmException(Code.TOOL_MISSING, what, cause);
    }

    private void await(Process process) throws VmException {
        try {
            if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                kill(process);
                throw new VmException(
                        Code.TIMEOUT, argv.getFirst() + " took longer than " + timeout.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            kill(process);
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, argv.getFirst() + " was interrupted", e);
        }
    }

    private static void kill(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    private static void join(Thread thread) throws VmException {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted", e);
        }
    }

    private static String lastLine(String text) {
        return text.lines().filter(line -> !line.isBlank()).reduce((a, b) -> b).orElse("it said nothing");
    }

    private static void copyBounded(InputStream from, ByteArrayOutputStream to) {
        var chunk = new byte[8192];
        try (from) {
            for (int n = from.read(chunk); n >= 0; n = from.read(chunk)) {
                to.write(chunk, 0, Math.min(n, OUTPUT_BYTES_MAX - to.size()));
            }
        } catch (IOException e) {
            to.writeBytes(new byte[0]); // the process was killed: there is nothing more to read
        }
    }

    /// Keeps the last few kilobytes of a stream.
    private static final class Tail {
        private final List<Byte> kept = new ArrayList<>();

        void drain(InputStream from) {
            var chunk = new byte[1024];
            try (from) {
                for (int n = from.read(chunk); n >= 0; n = from.read(chunk)) {
                    add(chunk, n);
                }
            } catch (IOException e) {
                add(new byte[] {'\n'}, 1); // the process was killed
            }
        }

        private synchronized void add(byte[] chunk, int length) {
            for (int i = 0; i < length; i++) {
                kept.add(chunk[i]);
            }
            if (kept.size() > ERROR_BYTES_KEPT) {
                kept.subList(0, kept.size() - ERROR_BYTES_KEPT).clear();
            }
        }

        synchronized String text() {
            var bytes = new byte[kept.size()];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = kept.get(i);
            }
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }
}
