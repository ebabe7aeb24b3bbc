package blackbox.bench.subject;

import blackbox.bench.subject.Wrk.Load;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/// What was measured on one way, in rounds: of each figure the median counts.
public final class WayFigures {
    private final Way way;
    private final Wrk wrk;
    private final int busy;
    private final int connecting;
    private final List<Measured> latency = new ArrayList<>();
    private final List<Measured> requests = new ArrayList<>();
    private final List<Measured> bulk = new ArrayList<>();
    private final List<Measured> handshakes = new ArrayList<>();

    /// @param processorSeconds that the processes on the way used meanwhile
    private record Measured(Load load, double processorSeconds) {}

    @FunctionalInterface
    private interface Run {
        Load run() throws IOException, InterruptedException;
    }

    /// @param folder for the load generator's script
    /// @param busy how many connections are kept at once, for requests a second
    /// @param connecting how many are opened at once, for handshakes a second
    public WayFigures(Way way, Path folder, int busy, int connecting) throws IOException {
        this.busy = busy;
        this.connecting = connecting;
        this.way = way;
        this.wrk = new Wrk(folder, way.place());
    }

    /// Waits until there is an answer on the way.
    public void awaitAnswer() throws IOException, InterruptedException {
        wrk.awaitAnswer(way.base() + "/small");
    }

    public Way way() {
        return way;
    }

    /// Measures nothing yet: for a server that is compiled as it runs.
    public void warmUp(Duration time) throws IOException, InterruptedException {
        var unused = wrk.keptAlive(way.base() + "/small", busy, time);
        unused = wrk.connecting(way.base() + "/small", connecting, time);
        unused = wrk.keptAlive(way.base() + "/bulk", 1, time);
    }

    /// Measures everything once more.
    public void measure(Duration each) throws IOException, InterruptedException {
        latency.add(measured(() -> wrk.keptAlive(way.base() + "/small", 1, each)));
        requests.add(measured(() -> wrk.keptAlive(way.base() + "/small", busy, each)));
        bulk.add(measured(() -> wrk.keptAlive(way.base() + "/bulk", 1, each)));
        handshakes.add(measured(() -> wrk.connecting(way.base() + "/small", connecting, each)));
    }

    private Measured measured(Run run) throws IOException, InterruptedException {
        double before = way.meter().now().processorSeconds();
        Load load = run.run();
        return new Measured(load, way.meter().now().processorSeconds() - before);
    }

    /// Milliseconds of a request, one at a time.
    public double p50() {
        return median(latency, each -> each.load().p50().toNanos() / 1e6);
    }

    /// Of a hundred requests, one at a time, one takes so many milliseconds or more.
    public double p99() {
        return median(latency, each -> each.load().p99().toNanos() / 1e6);
    }

    /// Requests a second on connections that are kept.
    public double requestsPerSecond() {
        return median(requests, each -> each.load().requestsPerSecond());
    }

    /// Milliseconds of a processor for each of these.
    public double processorMillisOfRequest() {
        return median(
                requests, each -> 1e3 * each.processorSeconds() / each.load().requests());
    }

    /// MB a second on one connection.
    public double bulkMegabytesPerSecond() {
        return median(bulk, each -> each.load().megabytesPerSecond());
    }

    /// MB for each second of a processor.
    public double bulkMegabytesPerProcessorSecond() {
        return median(bulk, each -> each.load().bytes() / 1e6 / each.processorSeconds());
    }

    /// Connections a second, each for one request.
    public double handshakesPerSecond() {
        return median(handshakes, each -> each.load().requestsPerSecond());
    }

    /// Milliseconds of a processor for each of these.
    public double processorMillisOfHandshake() {
        return median(
                handshakes, each -> 1e3 * each.processorSeconds() / each.load().requests());
    }

    /// How many requests were answered while measuring.
    public long answered() {
        return List.of(latency, requests, bulk, handshakes).stream()
                .flatMap(List::stream)
                .mapToLong(each -> each.load().requests())
                .sum();
    }

    private static double median(List<Measured> all, ToDoubleFunction<Measured> figure) {
        return all.stream().mapToDouble(figure).sorted().toArray()[all.size() / 2];
    }

    /// A table's head for [#line].
    public static String head() {
        return "%-10s %8s %8s %10s %8s %9s %10s %12s %8s%n"
                .formatted(
                        "", "p50 ms", "p99 ms", "requests/s", "ms each", "MB/s", "MB/cpu-s", "handshakes/s", "ms each");
    }

    public String line() {
        double perSecond = bulkMegabytesPerProcessorSecond();
        return "%-10s %8.3f %8.3f %10.0f %8.3f %9.0f %10s %12.0f %8.3f%n"
                .formatted(
                        way.name(),
                        p50(),
                        p99(),
                        requestsPerSecond(),
                        processorMillisOfRequest(),
                        bulkMegabytesPerSecond(),
                        Double.isInfinite(perSecond) ? "" : Math.round(perSecond),
                        handshakesPerSecond(),
                        processorMillisOfHandshake());
    }
}
