package blackbox.bench.subject;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// The verifier's jar, started as an auditor would start it.
public final class VerifierJar {
    public static final Path PATH =
            Path.of("verifier", "target", "blackbox-verifier.jar").toAbsolutePath();

    private VerifierJar() {}

    /// The outcome of a verification: the process's peak resident memory as the kernel counted it, in octets.
    public record Outcome(long memoryBytesMax) {}

    public static List<String> command(String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-jar", PATH.toString()));
        command.addAll(List.of(arguments));
        return command;
    }

    /// Verifies one of the benchmarks' runs.
    ///
    /// @throws IOException when it does not hold
    public static Outcome verify(SealedRun run) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        command("--data", run.data().toString(), run.run().value()))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        Path status = Path.of("/proc/" + process.pid() + "/status");
        long peak = 0;
        while (!process.waitFor(20, TimeUnit.MILLISECONDS)) {
            peak = Math.max(peak, ResidentMemory.peakBytes(status));
        }
        if (process.exitValue() != 0) {
            throw new IOException("the verifier ended with exit code " + process.exitValue());
        }
        return new Outcome(peak);
    }
}
