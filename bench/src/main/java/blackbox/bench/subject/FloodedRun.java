package blackbox.bench.subject;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What came of a recording of a flood.
///
/// @param sent what the guest says to have made; -1 where it was ended before it could say so
/// @param made what the table has of it; -1 where that is no event
/// @param events that are sealed
/// @param lost of them, as declared
/// @param state `CLOSED`, or how else the recorder left the run
/// @param recorderMib the most memory of the recorder
/// @param helpersMib the same of the processes beside it, without the guest's own
/// @param closed from the flood's end to the recorder's
/// @param verify exit code of `verify`
/// @param completeness its word
public record FloodedRun(
        Flood flood,
        long sent,
        String unit,
        long made,
        long events,
        long lost,
        String state,
        long recorderMib,
        long helpersMib,
        Duration closed,
        int verify,
        String completeness) {

    /// How long a recording may take beyond its flood: its machine starts, perhaps the first of its kind, and
    /// is ended.
    private static final Duration PATIENCE = Duration.ofMinutes(15);

    private static final Duration UNCOUNTED = Duration.ofMinutes(30);
    private static final int LISTENERS = 4;
    private static final String BEGUN = "flood: begun";
    private static final String SENT = "flood: sent ";
    private static final String FORMAT = "%-17s %15s %-12s %10s %12s %8s %7s %8s  %s %s%n";

    /// The head of the table that [#line] makes.
    public static String head() {
        return FORMAT.formatted(
                "flood", "sent", "", "sealed", "lost", "recorder", "helpers", "closed", "verify", "completeness");
    }

    /// A line of the table.
    public String line() {
        return FORMAT.formatted(
                flood.title(),
                sent < 0 ? "?" : Long.toString(sent),
                unit,
                events,
                lost,
                recorderMib + " M",
                helpersMib + " M",
                String.format(Locale.ROOT, "%.1f s", closed.toMillis() / 1e3),
                verify,
                completeness);
    }

    /// What is not as it must be; null if all is.
    ///
    /// @param memoryMibMax of the recorder, and of its helpers
    /// @param closedMax from the flood's end
    public @Nullable String wrong(long memoryMibMax, Duration closedMax) {
        if (!state.equals("CLOSED")) {
            return "the run is " + state;
        }
        if (recorderMib > memoryMibMax || helpersMib > memoryMibMax) {
            return "the recorder took " + recorderMib + " MiB, its helpers " + helpersMib;
        }
        if (closed.compareTo(closedMax) > 0) {
            return "it took " + closed.toSeconds() + " s to close the run";
        }
        boolean holds = !completeness.equals("UNKNOWN");
        if (!flood.completeness().contains(completeness) || (verify == 0) != holds) {
            return "verify says " + completeness + " and exits with " + verify;
        }
        if (made >= 0 && sent - made > lost) {
            return "of " + sent + " " + unit + " " + made + " are sealed, and only " + lost + " are declared as lost";
        }
        return null;
    }

    /// Records a flood of so many seconds, 0 for one that only its count ends.
    ///
    /// @throws IOException when the recorder dies or hangs
    public static FloodedRun record(HostileGuest guest, Flood flood, int seconds)
            throws IOException, InterruptedException {
        var listeners = new ArrayList<ServerSocket>();
        try {
            for (int i = 0; flood.network() && i < LISTENERS; i++) {
                listeners.add(listen());
            }
            return new Recording(guest, flood, seconds, listeners).run();
        } finally {
            for (ServerSocket listener : listeners) {
                listener.close();
            }
        }
    }

    /// Accepts connections and closes them.
    private static ServerSocket listen() throws IOException {
        var listener = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    listener.accept().close();
                }
            } catch (IOException e) {
                Thread.currentThread().interrupt(); // it was closed: the thread is done
            }
        });
        return listener;
    }

    /// One recording, while it runs.
    private static final class Recording {
        private final HostileGuest guest;
        private final Flood flood;
        private final int seconds;
        private final List<ServerSocket> listeners;
        private volatile long begunAt = System.nanoTime();
        private volatile long sentAt;
        private volatile String sent = "-1 ";
        private volatile String last = "";

        Recording(HostileGuest guest, Flood flood, int seconds, List<ServerSocket> listeners) {
            this.guest = guest;
            this.flood = flood;
            this.seconds = seconds;
            this.listeners = listeners;
        }

        FloodedRun run() throws IOException, InterruptedException {
            Process process = guest.recording(
                            options(), List.of(flood.name(), Integer.toString(seconds), Long.toString(flood.count())))
                    .start();
            var memory = new Memory(process);
            Thread out = Thread.ofPlatform().daemon().start(() -> drop(process.getInputStream()));
            Thread errors = Thread.ofPlatform().daemon().start(() -> hear(process));
            Duration patience = PATIENCE.plus(seconds == 0 ? UNCOUNTED : Duration.ofSeconds(seconds));
            if (!process.waitFor(patience.toSeconds(), TimeUnit.SECONDS)) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
                throw new IOException("the recorder of " + flood.title() + " does not end; it last said: " + last);
            }
            long endedAt = System.nanoTime();
            out.join();
            errors.join();
            if (!last.startsWith("{")) {
                throw new IOException("the recorder of " + flood.title() + " ended with " + process.exitValue()
                        + " and did not close the run; it last said: " + last);
            }
            long floodEnd = sentAt != 0 ? sentAt : begunAt + TimeUnit.SECONDS.toNanos(seconds);
            return of(new ObjectMapper().readTree(last), memory, Duration.ofNanos(Math.max(0, endedAt - floodEnd)));
        }

        private List<String> options() {
            var options = new ArrayList<>(List.of("--tier", flood.tier()));
            if (flood.network()) {
                String ports = listeners.stream()
                        .map(each -> Integer.toString(each.getLocalPort()))
                        .collect(Collectors.joining(","));
                options.addAll(List.of("--network", "user", "--env", "PORTS=" + ports));
            }
            return options;
        }

        private static void drop(InputStream in) {
            try (in) {
                in.transferTo(java.io.OutputStream.nullOutputStream());
            } catch (IOException e) {
                Thread.currentThread().interrupt(); // it has ended
            }
        }

        /// What the flood itself writes is no line of ours, however long it is.
        private void hear(Process process) {
            try (BufferedReader lines = process.errorReader(StandardCharsets.ISO_8859_1)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.equals(BEGUN)) {
                        begunAt = System.nanoTime();
                    } else if (line.startsWith(SENT)) {
                        sentAt = System.nanoTime();
                        sent = line.substring(SENT.length());
                    } else if (line.startsWith("{\"run\"") || line.startsWith("blackbox: ")) {
                        last = line;
                    }
                }
            } catch (IOException e) {
                Thread.currentThread().interrupt(); // it has ended
            }
        }

        private FloodedRun of(JsonNode recorded, Memory memory, Duration closed)
                throws IOException, InterruptedException {
            String run = recorded.path("run").asText();
            Process verify = new ProcessBuilder(guest.data().command("verify", run, "--json"))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            JsonNode verified = new ObjectMapper().readTree(verify.getInputStream());
            String[] words = sent.split(" ", 2);
            return new FloodedRun(
                    flood,
                    Long.parseLong(words[0]),
                    words[1],
                    made(run),
                    recorded.path("events").asLong(),
                    recorded.path("lost").asLong(),
                    recorded.path("state").asText(),
                    memory.ownMib(),
                    memory.helpersMib(),
                    closed,
                    verify.waitFor(),
                    verified.path("completeness").asText());
        }

        private long made(String run) throws IOException, InterruptedException {
            if (flood.made() == null) {
                return -1;
            }
            String sql = flood.made() + " AND run = '" + run + "'";
            String answer = Launcher.output(guest.data().command("query", sql, "--format", "json"));
            JsonNode made = new ObjectMapper().readTree(answer).path(0).path("made");
            if (!made.isNumber()) {
                throw new IOException("the query for " + flood.title() + " has no number in its answer: " + answer);
            }
            return made.asLong();
        }
    }
}
