package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal.AtLeast;
import blackbox.bench.result.Goal.AtMost;
import blackbox.bench.result.Medians;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.VmData;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// What exact recording and replay cost. Each figure is of whole commands, minus what the same command takes
/// for an agent that does nothing.
final class ExactTier implements VmBenchmark {
    private static final int ROUNDS = Scale.CURRENT.rounds(3);
    private static final int IDENTICAL_TIMES = Scale.CURRENT.count(100, 2);
    /// Computes, starts programs and writes files; about five seconds in a live VM of two cores.
    private static final String WORK = """
            for i in $(seq %d); do
                head -c 400000 /dev/zero | sha256sum > sum$i
                python3 -c 'print(sum(i * i for i in range(150000)))' > square$i
            done
            """.formatted(Scale.CURRENT.count(60, 2));

    private static final String ASKING = """
            import os, sys, threading, time, urllib.request
            def work(n):
                for _ in range(50):
                    print(n, time.time_ns(), os.getrandom(8).hex(), open('/dev/urandom', 'rb').read(8).hex(), flush=True)
            threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
            [t.start() for t in threads]
            print(urllib.request.urlopen(sys.argv[1]).read())
            [t.join() for t in threads]
            """;

    @Override
    public String name() {
        return "exact";
    }

    @Override
    public List<BenchResult> run() throws IOException, InterruptedException {
        VmData data = VmData.shared();
        record(data, "live", "true"); // create the snapshots, and fetch QEMU, if they are missing
        record(data, "exact", "true");
        double live = seconds(data, "live", WORK) - seconds(data, "live", "true");
        double nothing = seconds(data, "exact", "true");
        double exact = seconds(data, "exact", WORK) - nothing;
        double log = Files.size(newestLog(data));
        double replay = replaySeconds(data);
        var results = new ArrayList<BenchResult>();
        Launcher.time(data.command("record", "--tier", "exact", "--", "true"));
        double replayNothing = replaySeconds(data);
        results.add(BenchResult.of("exact-record", exact / live, "× live")
                .withGoal(new AtMost(2.5))
                .alone("it is the ratio to the live tier; the limit is 1")
                .withNote("%.1f s exact, %.1f s live (TCG, where there is no KVM), medians of %d"
                        .formatted(exact, live, ROUNDS)));
        results.add(BenchResult.of("exact-replay", (replay - replayNothing) / exact, "× record")
                .withGoal(new AtMost(1.2))
                .alone("it is the ratio to the recording, which executes the same instructions")
                .withNote("%.1f s".formatted(replay - replayNothing)));
        results.add(BenchResult.of("replay-log", log / exact / 1024, "KiB/s of run")
                .alone("what has to be logged depends on what the guest does, and nothing else logs the same"));
        results.add(identical(data));
        return results;
    }

    /// For a run whose threads read the clock, the kernel's random generator and a server; the server is stopped
    /// before the replay.
    private static BenchResult identical(VmData data) throws IOException, InterruptedException {
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            byte[] answer = Instant.now().toString().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        String url = "http://10.0.2.2:" + server.getAddress().getPort() + "/";
        Launcher.time(
                data.command("record", "--tier", "exact", "--network", "user", "--", "python3", "-c", ASKING, url));
        server.stop(0);
        String[] words = {"replay", "last", "--json", "--times", Integer.toString(IDENTICAL_TIMES)};
        JsonNode verdicts = new ObjectMapper()
                .readTree(Launcher.output(data.command(words)))
                .path("verdicts");
        int identical = 0;
        for (JsonNode each : verdicts) {
            identical += each.path("verdict").asText().equals("IDENTICAL") ? 1 : 0;
        }
        return BenchResult.of("exact-identical", identical, "replays IDENTICAL")
                .withGoal(new AtLeast(IDENTICAL_TIMES))
                .alone("a count of replays; all of them is the limit")
                .withNote("of " + IDENTICAL_TIMES + " of a run with clock, urandom, getrandom, threads and HTTP");
    }

    private static Duration record(VmData data, String tier, String work) throws IOException, InterruptedException {
        return Launcher.time(data.command("record", "--tier", tier, "--", "bash", "-c", work));
    }

    private static double seconds(VmData data, String tier, String work) throws IOException, InterruptedException {
        var times = new ArrayList<Duration>();
        for (int round = 0; round < ROUNDS; round++) {
            times.add(record(data, tier, work));
        }
        return Medians.seconds(times);
    }

    private static double replaySeconds(VmData data) throws IOException, InterruptedException {
        var times = new ArrayList<Duration>();
        for (int round = 0; round < ROUNDS; round++) {
            times.add(Launcher.time(data.command("replay", "last")));
        }
        return Medians.seconds(times);
    }

    /// The log is encrypted by then, which adds 16 octets in 65,536.
    private static Path newestLog(VmData data) throws IOException {
        try (Stream<Path> runs = Files.list(new DataFolder(data.folder()).captures())) {
            return runs.map(run -> run.resolve("rr.enc"))
                    .filter(Files::exists)
                    .max(Comparator.comparing(Path::toString))
                    .orElseThrow(() -> new IOException("no exact run left a replay log"));
        }
    }
}
