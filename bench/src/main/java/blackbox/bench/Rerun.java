package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Medians;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.VmData;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// How long `./blackbox replay` takes to execute a live run again, divided by how long `./blackbox record` took.
/// The agent fetches pages from a web server on loopback, which is gone by the time of the replay, and writes
/// files.
final class Rerun implements VmBenchmark {
    private static final int ROUNDS = Scale.CURRENT.rounds(3);
    private static final int PAGES = Scale.CURRENT.count(50, 5);
    private static final int PAGE_BYTES = 100_000;

    @Override
    public String name() {
        return "rerun";
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        VmData data = VmData.shared();
        Launcher.time(data.command("record", "--tier", "live", "--", "true")); // creates the snapshot if there is none
        var live = new ArrayList<Duration>();
        var again = new ArrayList<Duration>();
        for (int round = 0; round < ROUNDS; round++) {
            live.add(record(data));
            again.add(Launcher.time(data.command("replay", "last")));
        }
        return List.of(BenchResult.of(name(), Medians.seconds(again), "s")
                .beside("record", Medians.seconds(live))
                .withNote("median of " + ROUNDS + "; " + PAGES + " pages of " + PAGE_BYTES + " octets; the replay's"
                        + " checks, comparison and verdict are included"));
    }

    private static Duration record(VmData data) throws IOException, InterruptedException {
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(200, PAGE_BYTES);
                exchange.getResponseBody().write(new byte[PAGE_BYTES]);
            }
        });
        server.start();
        try {
            String agent = """
                    import urllib.request
                    for i in range(%d):
                        with urllib.request.urlopen('http://10.0.2.2:%d/%%d' %% i) as page, open(str(i), 'wb') as kept:
                            kept.write(page.read())
                    """.formatted(PAGES, server.getAddress().getPort());
            return Launcher.time(
                    data.command("record", "--tier", "live", "--network", "user", "--", "python3", "-c", agent));
        } finally {
            server.stop(0);
        }
    }
}
