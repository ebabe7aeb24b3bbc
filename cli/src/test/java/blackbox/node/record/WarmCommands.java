package blackbox.node.record;

import blackbox.cli.CommandSeries;
import blackbox.cli.CommandSeries.Request;
import blackbox.evidence.BuiltProgram;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A process that carries out one command after the other: started anew, one that only reads spends ten times
/// as much on starting as on its answer, and a short recording half of its time
/// (docs/decisions/0165-processor-time-of-the-tests.md). There are two for each test process, one for what reads
/// and one for recordings.
final class WarmCommands {
    private static final Set<String> READ =
            Set.of("caused", "diff", "events", "output", "query", "replay", "runs", "show", "touched", "verify", "why");

    /// After these a process of long standing would still have the keys that it has opened.
    private static final Set<String> CHANGE_KEYS = Set.of("keys", "shred");

    private static final long PATIENCE_SECONDS = 600;
    private static final long STACKS_SECONDS = 5;
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final WarmCommands READING = new WarmCommands(Integer.MAX_VALUE);

    /// Anew from time to time: no recording outlives its process in use.
    private static final WarmCommands RECORDING = new WarmCommands(20, "-XX:TieredStopAtLevel=1");

    private final int most;
    private final List<String> options;
    private final ReentrantLock busy = new ReentrantLock();
    private @Nullable Series current;

    /// @param most commands for one process
    private WarmCommands(int most, String... options) {
        this.most = most;
        this.options = List.of(options);
    }

    /// Carries out a command in such a process.
    ///
    /// @return its exit code; nothing if it is none of these commands, or if all such processes are busy
    static OptionalInt run(Path data, Path out, Path err, String... arguments)
            throws IOException, InterruptedException {
        if (arguments.length == 0) {
            return OptionalInt.empty();
        }
        if (CHANGE_KEYS.contains(arguments[0])) {
            READING.renew();
            RECORDING.renew();
        }
        Optional<WarmCommands> these = READ.contains(arguments[0])
                ? Optional.of(READING)
                : arguments[0].equals("record") ? Optional.of(RECORDING) : Optional.empty();
        if (these.isEmpty() || !these.get().busy.tryLock()) {
            return OptionalInt.empty();
        }
        var whole = new ArrayList<>(List.of(arguments));
        whole.addAll(1, List.of("--data", data.toString()));
        try {
            return OptionalInt.of(these.get().answer(new Request(whole, out, err)));
        } finally {
            these.get().busy.unlock();
        }
    }

    private int answer(Request request) throws IOException, InterruptedException {
        Series series = current == null ? new Series(options) : current;
        current = null;
        int code = series.answer(request);
        if (series.answered == most) {
            series.end();
        } else {
            current = series;
        }
        return code;
    }

    private void renew() {
        busy.lock();
        try {
            if (current != null) {
                current.end();
                current = null;
            }
        } finally {
            busy.unlock();
        }
    }

    /// The process; it ends with this one.
    private static final class Series {
        private final Process process;
        private final Path errors;
        private final Writer requests;
        private final BufferedReader answers;
        private int answered;

        Series(List<String> options) throws IOException {
            var command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC"));
            command.addAll(options);
            command.addAll(List.of("-Xmx512m", "-XX:+DisplayVMOutputToStderr"));
            command.addAll(BuiltProgram.options(System.getProperty("java.class.path")));
            command.add(CommandSeries.class.getName());
            errors = Files.createTempFile("commands", ".txt");
            process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
            requests = process.outputWriter(StandardCharsets.UTF_8);
            answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        }

        int answer(Request request) throws IOException, InterruptedException {
            var answer = new FutureTask<String>(answers::readLine);
            Thread.ofVirtual().start(answer);
            String line = null;
            List<String> left = List.of();
            boolean isDone = false;
            try {
                requests.write(JSON.writeValueAsString(request) + "\n");
                requests.flush();
                line = answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
                left = childrenLeft();
                if (line != null && line.matches("\\d+") && left.isEmpty() && Files.size(errors) == 0) {
                    isDone = true;
                    answered++;
                    return Integer.parseInt(line);
                }
            } catch (TimeoutException e) {
                var asked = new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).start();
                asked.waitFor();
                boolean unused = process.waitFor(STACKS_SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException | IOException e) {
                throw new AssertionError(request + " was not answered", e);
            } finally {
                if (!isDone) {
                    end();
                }
            }
            throw new AssertionError(request + " ended with " + line + " and left " + left + "; it said:\n"
                    + Files.readString(Path.of(request.err())) + Files.readString(errors));
        }

        /// One that stays is a fault.
        private List<String> childrenLeft() throws InterruptedException, ExecutionException {
            List<ProcessHandle> children = process.descendants().toList();
            try {
                for (ProcessHandle child : children) {
                    child.onExit().get(STACKS_SECONDS, TimeUnit.SECONDS);
                }
                return List.of();
            } catch (TimeoutException _) {
                return children.stream()
                        .map(child -> child.info().commandLine().orElse("?"))
                        .toList();
            }
        }

        void end() {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
