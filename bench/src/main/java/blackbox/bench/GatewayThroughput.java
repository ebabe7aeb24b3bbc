package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.GuestNamespace;
import blackbox.bench.subject.InterceptingProxy;
import blackbox.bench.subject.OpenStreams;
import blackbox.bench.subject.Origin;
import blackbox.bench.subject.RecordedGateway;
import blackbox.bench.subject.Slirp;
import blackbox.bench.subject.Way;
import blackbox.bench.subject.WayFigures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// HTTPS through the egress gateway outside of a VM, beside mitmproxy, squid, and nothing in between: all on loopback,
/// with the same load generator and the same server, in turn.
///
/// The gateway does what it does in a recording: the policy judges each request, TLS is opened, what goes over it is
/// kept, and all events are sealed and spooled ([blackbox.bench.subject.GatewayProcess]). Its client is in a network
/// namespace, so that the gateway has Linux's TCP before it as in a VM, and its frames go through QEMU
/// ([GuestNamespace]): that way is part of what is measured of the gateway. `slirp` is the same way with QEMU's user
/// network at its end, which opens nothing. What the others keep of a request is at most a line.
///
/// On a machine with other work, figures by the clock are those of what is left; `bulk-core` and what the table has for
/// `ms each` and `MB/cpu-s` count processor time of all threads of the process measured (of the gateway: judging,
/// digests, the record and its seals), and not the client, the origin and the way.
final class GatewayThroughput implements Benchmark {
    private static final int ROUNDS = Scale.CURRENT.rounds(5);
    private static final Duration EACH = Duration.ofSeconds(Scale.CURRENT.count(3, 1));
    private static final Duration WARM_UP = Duration.ofSeconds(20);
    private static final int BUSY = Scale.CURRENT.count(32, 4);
    private static final int CONNECTING = Scale.CURRENT.count(8, 2);
    private static final int STREAMS = Scale.CURRENT.count(100, 4);
    private static final boolean WITH_PEERS = Scale.CURRENT == Scale.WHOLE;

    /// Places among what was measured, after the direct way.
    private static final int OURS = 1;

    private static final int MITMPROXY = 2;
    private static final int SQUID = 3;
    private static final int SLIRP = 4;

    /// A request that is let through is an `egress.decision` and an `http.exchange`.
    private static final int EVENTS_A_REQUEST = 2;

    private static final String NO_PEERS = "at the smallest scale its peers are not started";

    private final List<Path> folders = new ArrayList<>();

    @Override
    public String name() {
        return "gateway-throughput";
    }

    @Override
    public @Nullable String missing() throws IOException, InterruptedException {
        if (!Files.isExecutable(Path.of("/usr/bin/wrk"))) {
            return "apt-get install wrk";
        }
        String peers = WITH_PEERS ? InterceptingProxy.missing() : null;
        return peers == null ? GuestNamespace.missing() : peers;
    }

    @Override
    public List<BenchResult> run() throws Exception {
        try (Origin origin = Origin.start(folder())) {
            var streams = new ArrayList<Double>();
            try (RecordedGateway gateway = RecordedGateway.start(folder(), origin)) {
                streams.add(streams(Way.of(gateway)));
            }
            if (WITH_PEERS) {
                try (var mitmproxy = InterceptingProxy.mitmproxy(folder(), origin)) {
                    streams.add(streams(Way.of(mitmproxy, origin)));
                }
                try (var squid = InterceptingProxy.squid(folder(), origin)) {
                    streams.add(streams(Way.of(squid, origin)));
                }
            }
            return results(measure(origin), streams);
        } finally {
            for (Path each : folders) {
                Folders.delete(each);
            }
        }
    }

    /// Of the direct way, of the gateway, and at the whole scale of its peers: mitmproxy, squid, slirp.
    private List<WayFigures> measure(Origin origin) throws Exception {
        try (RecordedGateway gateway = RecordedGateway.start(folder(), origin)) {
            var ways = new ArrayList<>(List.of(Way.direct(origin), Way.of(gateway)));
            if (!WITH_PEERS) {
                return recorded(gateway, measure(ways));
            }
            try (var mitmproxy = InterceptingProxy.mitmproxy(folder(), origin);
                    var squid = InterceptingProxy.squid(folder(), origin);
                    var slirp = Slirp.start(folder())) {
                ways.add(Way.of(mitmproxy, origin));
                ways.add(Way.of(squid, origin));
                ways.add(Way.of(slirp, origin));
                return recorded(gateway, measure(ways));
            }
        }
    }

    private List<WayFigures> measure(List<Way> ways) throws IOException, InterruptedException {
        var all = new ArrayList<WayFigures>();
        for (Way way : ways) {
            var figures = new WayFigures(way, folder(), BUSY, CONNECTING);
            all.add(figures);
            figures.awaitAnswer();
        }
        if (Scale.CURRENT == Scale.WHOLE) {
            all.get(OURS).warmUp(WARM_UP); // the others are compiled already, or never
        }
        for (int round = 0; round < ROUNDS; round++) {
            for (WayFigures each : all) {
                each.measure(EACH);
            }
        }
        System.out.print(WayFigures.head());
        all.forEach(each -> System.out.print(each.line()));
        return all;
    }

    /// Ends the gateway.
    ///
    /// @throws IOException if its record does not have all requests that were measured
    private static List<WayFigures> recorded(RecordedGateway gateway, List<WayFigures> figures) throws Exception {
        long events = gateway.end();
        long answered = figures.get(OURS).answered();
        if (events < EVENTS_A_REQUEST * answered) {
            throw new IOException("%d requests were answered, but there are %d events".formatted(answered, events));
        }
        return figures;
    }

    private double streams(Way way) throws IOException, InterruptedException {
        return OpenStreams.kibEach(way, folder(), STREAMS, Duration.ofSeconds(Scale.CURRENT.count(20, 2)));
    }

    /// A new one, deleted in the end. Not in one of the others', which squid, as another user, could not enter.
    private Path folder() throws IOException {
        Path folder = Files.createTempDirectory("blackbox-bench-gateway");
        folders.add(folder);
        return folder;
    }

    private static List<BenchResult> results(List<WayFigures> figures, List<Double> streams) {
        var results = new ArrayList<BenchResult>();
        BenchResult requests = result(figures, "requests", "requests/s", WayFigures::requestsPerSecond);
        results.add(WITH_PEERS ? requests.withGoal(new Goal.AtLeastOfBeside(10)) : requests);
        results.add(latency(figures, "p50", WayFigures::p50).withGoal(new Goal.AtMostOverBeside(1)));
        results.add(latency(figures, "p99", WayFigures::p99));
        results.add(result(figures, "bulk", "MB/s", WayFigures::bulkMegabytesPerSecond));
        results.add(result(figures, "bulk-core", "MB/cpu-s", WayFigures::bulkMegabytesPerProcessorSecond)
                .withGoal(new Goal.AtLeast(200)));
        results.add(result(figures, "handshakes", "connections/s", WayFigures::handshakesPerSecond));
        BenchResult memory = BenchResult.of("gateway-stream-memory", streams.getFirst(), "KiB");
        results.add(
                WITH_PEERS
                        ? memory.beside("mitmproxy", streams.get(1))
                                .withNote("%d streams; squid %.1f".formatted(STREAMS, streams.get(2)))
                        : memory.alone(NO_PEERS));
        return results;
    }

    private static BenchResult result(
            List<WayFigures> figures, String name, String unit, ToDoubleFunction<WayFigures> figure) {
        BenchResult result = BenchResult.of("gateway-" + name, figure.applyAsDouble(figures.get(OURS)), unit);
        return WITH_PEERS
                ? result.beside("mitmproxy", figure.applyAsDouble(figures.get(MITMPROXY)))
                        .withNote(others(figures, figure))
                : result.alone(NO_PEERS);
    }

    /// Of a request through the gateway, beside the direct way: what a way adds is the difference, which noise
    /// can make negative.
    private static BenchResult latency(List<WayFigures> figures, String name, ToDoubleFunction<WayFigures> figure) {
        WayFigures direct = figures.getFirst();
        BenchResult result = BenchResult.of("gateway-" + name, figure.applyAsDouble(figures.get(OURS)), "ms")
                .beside(direct.way().name(), figure.applyAsDouble(direct));
        return WITH_PEERS
                ? result.withNote(named(figures.subList(MITMPROXY, figures.size()).stream(), figure))
                : result;
    }

    private static String others(List<WayFigures> figures, ToDoubleFunction<WayFigures> figure) {
        return named(Stream.of(figures.getFirst(), figures.get(SQUID), figures.get(SLIRP)), figure);
    }

    private static String named(Stream<WayFigures> figures, ToDoubleFunction<WayFigures> figure) {
        return figures.map(each -> "%s %.4g".formatted(each.way().name(), figure.applyAsDouble(each)))
                .collect(Collectors.joining(", "));
    }
}
