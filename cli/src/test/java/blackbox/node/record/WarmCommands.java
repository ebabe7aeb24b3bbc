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
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Commands that only read, in one process for all of a test process's: started anew, each of them spends ten
/// times as much on starting as on its answer (docs/decisions/0165).
final class WarmCommands {
    private static final Set<String> READING =
            Set.of("caused", "diff", "events", "output", "query", "replay", "runs", "show", "touched", "verify", "why");

    /// After these a process of long standing would still have the keys that it has opened.
    private static final Set<String> CHANGING_KEYS = Set.of("keys", "shred");

    private static final long PATIENCE_SECONDS = 600;
    private static final long STACKS_SECONDS = 5;
    private static final ObjectMapper JSON = new ObjectMapper();

    private static @Nullable WarmCommands current;

    private final Process process;
    private final Path errors;
    private final Writer requests;
    private final BufferedReader answers;

    private WarmCommands() throws IOException {
        var command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/java", "-XX:+UseSerialGC"));
        command.addAll(List.of("-Xmx512m", "-XX:+DisplayVMOutputToStderr"));
        String tests = System.getProperty("java.class.path");
        command.addAll(
                BuiltProgram.current().map(built -> built.classPath(tests)).orElse(List.of("-cp", tests)));
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", CommandSeries.class.getName()));
        errors = Files.createTempFile("commands", ".txt");
        process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        requests = process.outputWriter(StandardCharsets.UTF_8);
        answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /// Whether it is such a command.
    static boolean take(String... arguments) {
        if (arguments.length > 0 && CHANGING_KEYS.contains(arguments[0])) {
            end();
        }
        return arguments.length > 0 && READING.contains(arguments[0]);
    }

    /// Its exit code; it ends with this process.
    static synchronized int run(Path data, Path out, Path err, String... arguments)
            throws IOException, InterruptedException {
        WarmCommands commands = current == null ? new WarmCommands() : current;
        current = commands;
        var whole = new ArrayList<>(List.of(arguments));
        whole.addAll(1, List.of("--data", data.toString()));
        return commands.answer(new Request(whole, out, err));
    }

    private int answer(Request request) throws IOException, InterruptedException {
        var answer = new FutureTask<String>(answers::readLine);
        Thread.ofVirtual().start(answer);
        String line = null;
        try {
            requests.write(JSON.writeValueAsString(request) + "\n");
            requests.flush();
            line = answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (line != null) {
                for (ProcessHandle child : process.descendants().toList()) {
                    child.onExit().get(STACKS_SECONDS, TimeUnit.SECONDS); // one that stays is a fault
                }
                return Integer.parseInt(line);
            }
        } catch (TimeoutException e) {
            var asked = new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).start();
            asked.waitFor();
            boolean unused = process.waitFor(STACKS_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | IOException e) {
            throw new AssertionError(request + " was not answered", e);
        } finally {
            if (line == null) {
                end();
            }
        }
        List<String> left = process.descendants()
                .map(child -> child.info().commandLine().orElse("?"))
                .toList();
        end();
        throw new AssertionError(request + " ended with " + line + " and left " + left + "; it said:\n"
                + Files.readString(Path.of(request.err())) + Files.readString(errors));
    }

    /// Ends the process, if there is one: what it remembers is not so any more.
    static synchronized void end() {
        if (current != null) {
            Process gone = current.process;
            current = null;
            gone.descendants().forEach(ProcessHandle::destroyForcibly);
            gone.destroyForcibly();
        }
    }
}
