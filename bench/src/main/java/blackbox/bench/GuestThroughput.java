package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.Launcher;
import blackbox.bench.subject.Origin;
import blackbox.bench.subject.VmData;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/// How fast an agent in a recorded VM downloads through the egress gateway, with and without TLS, beside QEMU's user
/// network (`--network user`, slirp), which lets everything through as it is. Both from the same server on a loopback
/// address of the host, in turn, by the guest's clock; the medians are compared.
final class GuestThroughput implements VmBenchmark {
    private static final int ROUNDS = Scale.CURRENT.rounds(3);
    private static final int FETCHES = Scale.CURRENT.rounds(4);
    private static final String SCRIPT = "fetch.py";

    /// MB a second in the guest.
    private record Speeds(List<Double> plain, List<Double> tls) {
        Speeds() {
            this(new ArrayList<>(), new ArrayList<>());
        }

        static double median(List<Double> all) {
            var sorted = new ArrayList<>(all);
            Collections.sort(sorted);
            return sorted.get(sorted.size() / 2);
        }
    }

    @Override
    public String name() {
        return "guest-throughput";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        VmData data = VmData.shared();
        Path folder = Files.createTempDirectory("blackbox-bench-guest");
        try (Origin origin = Origin.start(folder)) {
            Path workspace = workspace(folder);
            Path policy = Files.writeString(folder.resolve("policy.yaml"), policy(origin));
            var user = List.of("--network", "user");
            var gateway = List.of(
                    "--policy",
                    policy.toString(),
                    "--upstream-ca",
                    origin.certificate().toString());
            var slirp = new Speeds();
            var ours = new Speeds();
            for (int round = 0; round < ROUNDS; round++) {
                fetch(
                        data,
                        workspace,
                        user,
                        "http://10.0.2.2:" + origin.plainPort(),
                        "https://10.0.2.2:" + origin.port(),
                        slirp);
                fetch(data, workspace, gateway, "http://" + Origin.NAME, "https://" + Origin.NAME, ours);
            }
            return List.of(
                    result(name(), ours.plain(), slirp.plain(), "HTTP"),
                    result(name() + "-tls", ours.tls(), slirp.tls(), "HTTPS, which the gateway opens"));
        } finally {
            Folders.delete(folder);
        }
    }

    private static String policy(Origin origin) {
        return """
                version: 1
                rules:
                  - {id: plain, host: %1$s, ports: [80], methods: [GET], paths: ["/*"], upstream: "127.0.0.1:%2$d"}
                  - {id: tls, host: %1$s, ports: [443], methods: [GET], paths: ["/*"], upstream: "127.0.0.1:%3$d"}
                """.formatted(Origin.NAME, origin.plainPort(), origin.port());
    }

    private static BenchResult result(String name, List<Double> ours, List<Double> slirp, String what) {
        return BenchResult.of(name, Speeds.median(ours), "MB/s")
                .withGoal(new Goal.AtLeastOfBeside(1))
                .beside("slirp", Speeds.median(slirp))
                .withNote("%s; median of %d downloads of %d MiB in %d VMs each"
                        .formatted(what, ours.size(), Origin.BULK_BYTES >> 20, ROUNDS));
    }

    private static Path workspace(Path folder) throws IOException {
        Path workspace = Files.createDirectory(folder.resolve("workspace"));
        try (InputStream in = GuestThroughput.class.getResourceAsStream(SCRIPT)) {
            if (in == null) {
                throw new IOException(SCRIPT + " is missing from this build");
            }
            Files.copy(in, workspace.resolve(SCRIPT));
        }
        return workspace;
    }

    private static void fetch(
            VmData data, Path workspace, List<String> network, String plain, String tls, Speeds speeds)
            throws IOException, InterruptedException {
        var command = new ArrayList<>(data.command("record", "--workspace", workspace.toString()));
        command.addAll(network);
        command.addAll(List.of("--", "python3", "/workspace/" + SCRIPT));
        command.addAll(Collections.nCopies(FETCHES, plain + "/bulk"));
        command.addAll(Collections.nCopies(FETCHES, tls + "/bulk"));
        List<String> lines = Launcher.output(command).lines().toList();
        if (lines.size() != 2 * FETCHES) {
            throw new IOException("the guest did not fetch everything with " + network + ": " + lines);
        }
        var all = new ArrayList<Double>();
        for (String line : lines) {
            all.add(megabytesPerSecond(line));
        }
        System.out.println(network.getFirst() + ", MB/s one after the other, the second half over TLS:"
                + all.stream().map(" %.1f"::formatted).collect(Collectors.joining()));
        speeds.plain().addAll(all.subList(0, FETCHES));
        speeds.tls().addAll(all.subList(FETCHES, all.size()));
    }

    /// @param line octets and seconds
    private static double megabytesPerSecond(String line) throws IOException {
        String[] words = line.split(" ");
        if (Long.parseLong(words[0]) != Origin.BULK_BYTES) {
            throw new IOException("a download was cut off after " + words[0] + " octets");
        }
        return Origin.BULK_BYTES / 1e6 / Double.parseDouble(words[1]);
    }
}
