package blackbox.bench.subject;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A recording of an agent that writes files until it is stopped, in a process group of its own.
public final class RecordedAgent implements AutoCloseable {

    /// How long a recording may take to end, however it is ended.
    public static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration START = Duration.ofMinutes(5);
    private static final String WORK =
            "i=0; while :; do i=$((i+1)); echo $i > file-$((i % 50)); /bin/true; echo up; sleep 0.05; done";

    private final Process process;
    private final Path errors;
    private final CountDownLatch working = new CountDownLatch(1);

    private RecordedAgent(Process process, Path errors) {
        this.process = process;
        this.errors = errors;
        Thread.ofPlatform().daemon().start(this::drain);
    }

    public static RecordedAgent start(VmData data, String name, String tier) throws IOException {
        // A shell without job control makes its background processes ignore ctrl-C, and that is inherited.
        var command = new ArrayList<>(List.of("env", "--default-signal=INT,HUP", "setsid"));
        command.addAll(data.command("record", "--json", "--tier", tier, "--name", name));
        command.addAll(List.of("--", "sh", "-c", WORK));
        Path errors = Files.createTempFile("blackbox-bench-", ".err");
        return new RecordedAgent(
                new ProcessBuilder(command).redirectError(errors.toFile()).start(), errors);
    }

    private void drain() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            while (lines.readLine() != null) {
                working.countDown();
            }
        } catch (IOException e) {
            // It was killed.
        } finally {
            working.countDown();
        }
    }

    /// Waits until it has begun to work, or has ended.
    public void awaitWork() throws InterruptedException, IOException {
        if (!working.await(START.toSeconds(), TimeUnit.SECONDS)) {
            throw new IOException("the agent does not start: " + errors());
        }
    }

    /// Waits for the recording's end; says whether it came.
    public boolean awaitEnd(Duration patience) throws InterruptedException {
        return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    public void killRecorder() {
        process.destroyForcibly();
    }

    /// Sends a signal to the whole group, as a terminal does.
    public void signal(String signal) throws IOException, InterruptedException {
        int unused = new ProcessBuilder("kill", "-s", signal, "--", "-" + process.pid())
                .redirectErrorStream(true)
                .start()
                .waitFor();
    }

    /// Kills QEMU, which the exact tier starts through a loader, if it runs already; else the whole recording.
    public void killMachine() {
        boolean found = process.descendants()
                        .filter(each -> each.info().commandLine().orElse("").contains("qemu-system"))
                        .peek(ProcessHandle::destroyForcibly)
                        .count()
                > 0;
        if (!found) {
            process.destroyForcibly();
        }
    }

    /// What the recorder said of the run when it had closed it; null if it did not get that far.
    public @Nullable JsonNode recorded() throws IOException {
        JsonNode last = null;
        for (String line : Files.readAllLines(errors)) {
            if (line.startsWith("{") && line.contains("\"run\"")) {
                last = new ObjectMapper().readTree(line);
            }
        }
        return last;
    }

    /// What it wrote to its standard error.
    public String errors() throws IOException {
        return Files.readString(errors);
    }

    @Override
    public void close() throws IOException {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        Files.delete(errors);
    }
}
