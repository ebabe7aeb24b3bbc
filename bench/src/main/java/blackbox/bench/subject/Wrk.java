package blackbox.bench.subject;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/// Debian's `wrk`, a load generator for HTTP/1.1 over TLS: the same for everything that is measured, on one thread. It
/// sends the next request on a connection when the answer before it is whole.
public final class Wrk {
    private static final String WORD = "measured ";
    private static final int TRIES_MAX = 20;
    /// What glibc says of a resolver that did not answer in time.
    private static final String UNANSWERED = "Temporary failure in name resolution";

    /// Prints what was measured in a form that does not change, times in microseconds; waits before each request if
    /// a delay is given.
    private static final String SCRIPT = """
            local pause = 0
            function init(args)
              pause = tonumber(args[1])
              if pause == 0 then delay = nil end
            end
            function delay() return pause end
            function done(s, latency, requests)
              local e = s.errors
              io.write(string.format("measured %d %d %d %d %d %d\\n", s.duration, s.requests, s.bytes,
                latency:percentile(50), latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
            end
            """;

    private final Path script;
    private final UnaryOperator<List<String>> place;

    /// What one run of it measured.
    ///
    /// @param seconds how long it ran
    /// @param requests that were answered
    /// @param bytes of the answers, also of those that it did not wait for
    public record Load(double seconds, long requests, long bytes, Duration p50, Duration p99) {
        public double requestsPerSecond() {
            return requests / seconds;
        }

        public double megabytesPerSecond() {
            return bytes / 1e6 / seconds;
        }
    }

    /// @param folder for its script
    /// @param place puts the command line where it is to run
    public Wrk(Path folder, UnaryOperator<List<String>> place) throws IOException {
        this.script = Files.writeString(folder.resolve("wrk.lua"), SCRIPT);
        this.place = place;
    }

    /// Waits until there is an answer: whatever is on the way may have just started.
    ///
    /// @throws IOException if there is none
    public void awaitAnswer(String url) throws IOException, InterruptedException {
        var unused = keptAlive(url, 1, Duration.ofSeconds(1));
    }

    /// As many requests as are answered on so many connections, which are kept.
    public Load keptAlive(String url, int connections, Duration time) throws IOException, InterruptedException {
        return run(url, connections, time, Duration.ZERO, List.of());
    }

    /// The same with a connection and a handshake for each request.
    public Load connecting(String url, int connections, Duration time) throws IOException, InterruptedException {
        return run(url, connections, time, Duration.ZERO, List.of("-H", "Connection: close"));
    }

    /// Connections that are kept, on each of which there is a request from time to time.
    public Load idling(String url, int connections, Duration time) throws IOException, InterruptedException {
        return run(url, connections, time, Duration.ofMillis(500), List.of());
    }

    private Load run(String url, int connections, Duration time, Duration pause, List<String> options)
            throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("wrk", "-t", "1", "-c", "" + connections));
        command.addAll(List.of("-d", time.toSeconds() + "s", "--timeout", "20s", "-s", script.toString()));
        command.addAll(options);
        command.addAll(List.of(url, "--", "" + pause.toMillis()));
        for (int tries = TRIES_MAX; ; tries--) {
            try {
                return read(output(command));
            } catch (SilenceException e) {
                if (tries == 0) {
                    throw e;
                }
            }
        }
    }

    private String output(List<String> command) throws IOException, InterruptedException {
        Process wrk = new ProcessBuilder(place.apply(command))
                .redirectErrorStream(true)
                .start();
        String output = new String(wrk.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (wrk.waitFor() != 0 && output.contains(UNANSWERED)) {
            throw new SilenceException(output);
        }
        if (wrk.exitValue() != 0) {
            throw new IOException("wrk ended with exit code " + wrk.exitValue() + ": " + output);
        }
        return output;
    }

    /// Nothing of any answer came: on a busy machine a server that has just started may take longer than the time.
    static final class SilenceException extends IOException {
        private static final long serialVersionUID = 1L;

        SilenceException(String message) {
            super(message);
        }
    }

    /// Reads the line that the script prints.
    ///
    /// @throws IOException if requests failed, or nothing of any answer came
    static Load read(String output) throws IOException {
        String line = output.lines()
                .filter(each -> each.startsWith(WORD))
                .findFirst()
                .orElseThrow(() -> new IOException("wrk measured nothing: " + output));
        long[] numbers = List.of(line.substring(WORD.length()).split(" ")).stream()
                .mapToLong(Long::parseLong)
                .toArray();
        if (numbers[5] == 0 && numbers[2] == 0) {
            throw new SilenceException("nothing was answered in the time: " + output);
        }
        if (numbers[5] != 0) {
            throw new IOException("%d requests were answered, %d failed: %s".formatted(numbers[1], numbers[5], output));
        }
        return new Load(numbers[0] / 1e6, numbers[1], numbers[2], micros(numbers[3]), micros(numbers[4]));
    }

    private static Duration micros(long count) {
        return Duration.ofNanos(count * 1_000);
    }
}
