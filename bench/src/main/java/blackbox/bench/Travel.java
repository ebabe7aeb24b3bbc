package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.CapturedRun;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.Launcher;
import blackbox.vault.age.AgeIdentity;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// How long `blackbox export --format replay` and `blackbox import` take for a run with 1 GiB of captured
/// files, as multiples of the time in which `zstd -3` compresses the same octets, unencrypted; and how long
/// the file is, as a multiple of what zstd makes of them. All write to the same disk, and are done when their
/// file is durable. They take turns, and each figure is the best of several rounds. The JVM's start counts.
final class Travel implements Benchmark {
    private static final long BYTES = Scale.CURRENT.count(1 << 30, 1 << 24);
    private static final int ROUNDS = Scale.CURRENT.rounds(5);
    private static final double TIMES_MAX = 1.5;
    private static final double SIZE_MAX = 1.1;

    @Override
    public String name() {
        return "travel";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        Path folder = Files.createTempDirectory("blackbox-bench-");
        try {
            return measure(folder, CapturedRun.write(folder, BYTES));
        } finally {
            Folders.delete(folder);
        }
    }

    /// The best times so far, in seconds.
    private record Best(double zstd, double zstdBack, double export, double taken) {
        static final Best NONE = new Best(
                Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);

        Best or(Best other) {
            return new Best(
                    Math.min(zstd, other.zstd),
                    Math.min(zstdBack, other.zstdBack),
                    Math.min(export, other.export),
                    Math.min(taken, other.taken));
        }
    }

    private static List<BenchResult> measure(Path folder, CapturedRun run) throws Exception {
        AgeIdentity identity = AgeIdentity.create(new SecureRandom());
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        Path secret = Files.createFile(folder.resolve("identity"), mode);
        Files.writeString(secret, identity.text() + "\n");
        Best best = Best.NONE;
        for (int round = 0; round < ROUNDS; round++) {
            best = best.or(round(folder, run, identity, secret));
        }
        double compressed = Files.size(folder.resolve("plain.zst"));
        double exported = Files.size(folder.resolve("run.bbrun"));
        return List.of(
                BenchResult.of("travel-export", best.export() / best.zstd(), "×")
                        .withGoal(new Goal.AtMost(TIMES_MAX))
                        .alone("it is the ratio to `zstd -3` of the same octets, unencrypted")
                        .withNote(note("export", best.export(), "zstd -3", best.zstd(), run.bytes())),
                BenchResult.of("travel-import", best.taken() / best.zstd(), "×")
                        .withGoal(new Goal.AtMost(TIMES_MAX))
                        .alone("it is the ratio to `zstd -3` of the same octets, unencrypted")
                        .withNote(note("import", best.taken(), "zstd -d", best.zstdBack(), run.bytes())),
                BenchResult.of("travel-size", exported / compressed, "×")
                        .withGoal(new Goal.AtMost(SIZE_MAX))
                        .alone("it is the ratio to what `zstd -3` makes of the captured files")
                        .withNote(String.format(Locale.ROOT, "%,.0f of %,d octets", exported, run.bytes())));
    }

    private static String note(String what, double seconds, String peer, double peerSeconds, long bytes) {
        return String.format(
                Locale.ROOT,
                "%s %.2f s, %s %.2f s, of %,d octets, best of %d",
                what,
                seconds,
                peer,
                peerSeconds,
                bytes,
                ROUNDS);
    }

    private static Best round(Path folder, CapturedRun run, AgeIdentity identity, Path secret) throws Exception {
        Path compressed = folder.resolve("plain.zst");
        Path back = folder.resolve("plain.back");
        Path exported = folder.resolve("run.bbrun");
        Path there = folder.resolve("there");
        for (Path each : List.of(compressed, back, exported)) {
            Files.deleteIfExists(each);
        }
        var best = new Best(
                durable(
                        compressed,
                        "zstd",
                        "-q",
                        "-3",
                        "-o",
                        compressed.toString(),
                        run.plain().toString()),
                durable(back, "zstd", "-q", "-d", "-o", back.toString(), compressed.toString()),
                blackbox(
                        List.of(
                                "export",
                                "--data",
                                run.data().root().toString(),
                                run.run().toString()),
                        List.of("--format", "replay", "--slim", "--out", exported.toString()),
                        List.of("--to", identity.recipient().toString())),
                blackbox(
                        List.of("import", "--data", there.toString()),
                        List.of("--identity", secret.toString(), exported.toString())));
        Folders.delete(there);
        return best;
    }

    /// Seconds that a program takes until what it wrote is on the disk.
    private static double durable(Path out, String... command) throws IOException, InterruptedException {
        long start = System.nanoTime();
        var unused = Launcher.time(List.of(command));
        try (var file = FileChannel.open(out, StandardOpenOption.WRITE)) {
            file.force(true);
        }
        return (System.nanoTime() - start) / 1e9;
    }

    @SafeVarargs
    private static double blackbox(List<String>... words) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(Launcher.PATH.toString()));
        for (List<String> each : words) {
            command.addAll(each);
        }
        return Launcher.time(command).toNanos() / 1e9;
    }
}
