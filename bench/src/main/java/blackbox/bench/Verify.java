package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.OpensslSpeed;
import blackbox.bench.subject.SealedRun;
import blackbox.bench.subject.VerifierJar;
import blackbox.evidence.parquet.EventFileReader;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.RunVerifier;
import blackbox.evidence.verify.Verification;
import blackbox.schemas.row.LeafCodec;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/// Events verified from committed Parquet per second of one core's time: seals, decoding, canonical leaves, tree
/// and checkpoints. The peer is OpenSSL computing the same hashes alone: RFC 6962 needs one for the leaf and one
/// for a node, of 65 octets. Also the peak memory of the verifier's jar for the same run.
final class Verify implements Benchmark {
    private static final int EVENTS = Scale.CURRENT.count(10_000_000, 30_000);
    private static final int EVENTS_FEW = Scale.CURRENT.count(1_000_000, 10_000);
    private static final int MEASUREMENTS = Scale.CURRENT.rounds(3);
    private static final int NODE_BYTES = 65;
    private static final double MIB = 1 << 20;

    @Override
    public String name() {
        return "verify";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        Path data = Files.createTempDirectory("blackbox-bench-");
        Path few = Files.createTempDirectory("blackbox-bench-");
        try {
            SealedRun run = SealedRun.write(data, EVENTS);
            double memory = VerifierJar.verify(run).memoryBytesMax() / MIB;
            double memoryOfFew =
                    VerifierJar.verify(SealedRun.write(few, EVENTS_FEW)).memoryBytesMax() / MIB;
            return List.of(speed(run), memory(memory, memoryOfFew));
        } finally {
            Folders.delete(data);
            Folders.delete(few);
        }
    }

    private BenchResult speed(SealedRun run) throws IOException, InterruptedException {
        double verify = 0;
        for (int round = 0; round < MEASUREMENTS; round++) {
            verify = Math.max(verify, verify(run));
        }
        int leafBytes = (int) Math.round(meanLeafBytes(run));
        double leaves = OpensslSpeed.sha256PerSecond(1 + leafBytes, 2);
        double nodes = OpensslSpeed.sha256PerSecond(NODE_BYTES, 2);
        return BenchResult.of(name(), verify, "events/s")
                .withGoal(new Goal.AtLeast(1_500_000))
                .beside("openssl speed sha256, two hashes an event", 1 / (1 / leaves + 1 / nodes))
                .withNote(String.format(
                        Locale.ROOT,
                        "Of one core's time (CPU time of one thread), %,d events in one run, leaves of %d octets, best of %d.",
                        run.events(),
                        leafBytes,
                        MEASUREMENTS));
    }

    private static double verify(SealedRun run) throws IOException {
        var threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        Verification verification = RunVerifier.verify(
                Recordings.unchecked(run.data()), run.run(), List.of(run.key().verifier()));
        long elapsed = threads.getCurrentThreadCpuTime() - start;
        if (!verification.holds() || verification.events() != run.events()) {
            throw new IllegalStateException("the benchmark's own run does not verify: " + verification);
        }
        return run.events() * 1e9 / elapsed;
    }

    private static double meanLeafBytes(SealedRun run) throws IOException {
        DataFile file = Recordings.unchecked(run.data()).dataFiles(run.run()).getFirst();
        long octets = 0;
        long rows = 0;
        try (EventFileReader reader = EventFileReader.open(file.open(), run.run())) {
            for (; rows < EVENTS_FEW / 10 && reader.next(); rows++) {
                octets += LeafCodec.size(reader.row());
            }
        }
        return (double) octets / rows;
    }

    private static BenchResult memory(double memory, double memoryOfFew) {
        return BenchResult.of("verify-memory", memory, "MiB")
                .withGoal(new Goal.AtMost(512))
                .beside(String.format(Locale.ROOT, "over %,d events", EVENTS_FEW), memoryOfFew)
                .withNote(String.format(
                        Locale.ROOT,
                        "Peak resident memory of `java -jar blackbox-verifier.jar` over %,d events; it should not grow with"
                                + " their number.",
                        EVENTS));
    }
}
