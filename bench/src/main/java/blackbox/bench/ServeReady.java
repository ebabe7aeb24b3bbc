package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.result.Medians;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.Launcher;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// How long `./blackbox serve` takes from its start to its first answer over HTTP, in an empty data folder. The
/// median is reported.
final class ServeReady implements Benchmark {
    private static final int ROUNDS = Scale.CURRENT.rounds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(5);

    @Override
    public String name() {
        return "serve-ready";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        List<Double> seconds = new ArrayList<>();
        List<Duration> bareTimes = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            Path data = Files.createTempDirectory("blackbox-bench-");
            try {
                seconds.add(once(data));
                bareTimes.add(Launcher.time(Launcher.BARE_JVM));
            } finally {
                Folders.delete(data);
            }
        }
        Collections.sort(seconds);
        return List.of(BenchResult.of(name(), seconds.get(ROUNDS / 2), "s")
                .withGoal(new Goal.AtMost(2))
                .beside("java -version", Medians.seconds(bareTimes)));
    }

    private static double once(Path data) throws Exception {
        int port = freePort();
        var builder = new ProcessBuilder(
                        Launcher.PATH.toString(), "serve", "--data", data.toString(), "--listen", "127.0.0.1:" + port)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        long start = System.nanoTime();
        Process serve = builder.start();
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest health = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/health"))
                    .timeout(PATIENCE)
                    .build();
            while (!answers(client, health)) {
                if (!serve.isAlive() || System.nanoTime() - start > PATIENCE.toNanos()) {
                    throw new IOException("serve did not start");
                }
                Thread.sleep(PAUSE);
            }
            return (System.nanoTime() - start) / 1e9;
        } finally {
            serve.destroy();
            if (!serve.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                serve.destroyForcibly();
            }
        }
    }

    private static boolean answers(HttpClient client, HttpRequest request) throws InterruptedException {
        try {
            return client.send(request, BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
