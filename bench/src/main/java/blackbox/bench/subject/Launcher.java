package blackbox.bench.subject;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// Starts programs as a person would, from the project's root.
public final class Launcher {
    public static final Path PATH = Path.of("blackbox").toAbsolutePath();

    /// A JVM that only prints its version: no command of ours can start sooner.
    public static final List<String> BARE_JVM =
            List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-version");

    /// Our launcher and its JVM, which every command starts with.
    public static final List<String> HELP = List.of(PATH.toString(), "--help");

    private Launcher() {}

    /// The wall time from starting a program to its end; its output is discarded.
    ///
    /// @throws IOException when it cannot be started or does not end with exit code 0
    public static Duration time(List<String> command) throws IOException, InterruptedException {
        var builder = new ProcessBuilder(command)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        long start = System.nanoTime();
        int exit = builder.start().waitFor();
        Duration elapsed = Duration.ofNanos(System.nanoTime() - start);
        if (exit != 0) {
            throw new IOException(command + " ended with exit code " + exit);
        }
        return elapsed;
    }

    /// Starts a program and kills it (SIGKILL) after a while.
    ///
    /// @throws IOException when it cannot be started or has ended before
    public static void kill(List<String> command, Duration after) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (process.waitFor(after)) {
            throw new IOException(command + " ended before it was to be killed, with exit code " + process.exitValue());
        }
        process.destroyForcibly().waitFor();
    }

    /// What a program writes to its standard output. It may end with any exit code.
    public static String output(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectInput(new File("/dev/null"))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }
}
