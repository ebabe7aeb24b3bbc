package blackbox.cli;

import blackbox.cli.output.StandardOutput;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Carries out one command after the other in one process: a [Request] on each line of standard input, each
/// answered with a line that is its exit code, or that names what it left behind: threads that would keep a
/// process of its own from ending.
public final class CommandSeries {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /// A command line and the files for what it prints.
    public record Request(List<String> arguments, String out, String err) {
        public Request(List<String> arguments, Path out, Path err) {
            this(arguments, out.toString(), err.toString());
        }
    }

    private CommandSeries() {}

    public static void main(String[] none) throws IOException {
        PrintStream answers = System.out;
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setIn(InputStream.nullInputStream());
        var json = new ObjectMapper();
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            Set<Thread> before = threads();
            int code = answer(json.readValue(line, Request.class));
            Set<Thread> left = left(before);
            answers.println(left.isEmpty() ? Integer.toString(code) : "threads " + left);
        }
    }

    private static Set<Thread> threads() {
        var threads = new HashSet<>(Thread.getAllStackTraces().keySet());
        threads.removeIf(Thread::isDaemon);
        return threads;
    }

    /// Those that have not ended after a while.
    private static Set<Thread> left(Set<Thread> before) {
        Set<Thread> left = threads();
        left.removeAll(before);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        try {
            for (Thread thread : left) {
                boolean unused = thread.join(Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        left.removeIf(thread -> !thread.isAlive());
        return left;
    }

    private static int answer(Request request) throws IOException {
        try (var out = new FileOutputStream(request.out());
                var err = new PrintStream(new FileOutputStream(request.err()), true, StandardCharsets.UTF_8)) {
            var output = new StandardOutput(out);
            System.setOut(output.stream(StandardCharsets.UTF_8));
            System.setErr(err);
            int code = Main.run(request.arguments().toArray(String[]::new));
            System.out.flush();
            return output.code(code, request.arguments().getFirst().equals("record"), err);
        }
    }
}
