package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.OpensslSpeed;
import blackbox.bench.subject.Traffic;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.recorder.RecorderException;
import blackbox.recorder.seal.EphemeralKeys;
import blackbox.recorder.seal.EpochKeys;
import blackbox.recorder.seal.RunSealer;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Supplier;

/// How fast one core turns events into sealed batches (row, leaf, tree, chain, signature), compared with how fast
/// one core of the same machine hashes messages of the same size with openssl. Nothing is written to disk: the
/// figure of `pipeline` includes that.
final class Seal implements Benchmark {
    /// Few enough to stay in the processor's cache, where an event that was just decoded is.
    private static final int EVENTS = 1 << 13;
    private static final Duration ROUND = Duration.ofMillis(Scale.CURRENT.count(2_000, 50));
    private static final int ROUNDS = Scale.CURRENT.rounds(5);
    /// An inner node of the tree: a prefix and two hashes.
    private static final int NODE_BYTES = 1 + 32 + 32;
    private static final RunId RUN = RunId.create(Instant.EPOCH, new Random(1));
    private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();

    @Override
    public String name() {
        return "seal";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        List<Event> events = new Traffic(1).events(EVENTS);
        int leafBytes = meanLeafBytes(events);
        Supplier<EpochKeys> epochs = () -> new EphemeralKeys(RUN, new SecureRandom());
        var key = Ed25519Key.create("bench", new SecureRandom());
        Supplier<EpochKeys> oneKey = () -> EpochKeys.always(key);
        perSecond(events, epochs);
        double withOneKey = 0;
        double sealed = 0;
        double leaves = 0;
        double nodes = 0;
        for (int round = 0; round < ROUNDS; round++) {
            sealed = Math.max(sealed, perSecond(events, epochs));
            withOneKey = Math.max(withOneKey, perSecond(events, oneKey));
            leaves = Math.max(leaves, OpensslSpeed.sha256PerSecond(leafBytes, 1));
            nodes = Math.max(nodes, OpensslSpeed.sha256PerSecond(NODE_BYTES, 1));
        }
        double bothHashes = 1 / (1 / leaves + 1 / nodes);
        return List.of(BenchResult.of(name(), sealed, "events/s")
                .withGoal(new Goal.AtLeastOfBeside(0.9))
                .beside("openssl sha256, both hashes of an event", bothHashes)
                .withNote(String.format(
                        Locale.ROOT,
                        "RFC 6962 needs a hash of the leaf, here of %d B on average, and one of a node, of %d B. With one"
                                + " key for all epochs it would be %,.0f/s.",
                        leafBytes,
                        NODE_BYTES,
                        withOneKey)));
    }

    /// Events sealed in a second of this thread's CPU time, which is what openssl counts too.
    private static double perSecond(List<Event> events, Supplier<EpochKeys> keys) throws RecorderException {
        var sealer = new RunSealer(RUN, keys.get(), _ -> {}, InstantSource.system());
        long start = CPU.getCurrentThreadCpuTime();
        long elapsed = 0;
        while (elapsed < ROUND.toNanos()) {
            for (Event event : events) {
                sealer.append(event);
                if (sealer.isFull()) {
                    sealer.seal();
                }
            }
            elapsed = CPU.getCurrentThreadCpuTime() - start;
        }
        return sealer.size() * 1e9 / elapsed;
    }

    private static int meanLeafBytes(List<Event> events) {
        var row = new Row();
        long bytes = 0;
        for (Event event : events) {
            EventRows.fill(event, row);
            bytes += LeafCodec.size(row);
        }
        return Math.toIntExact(bytes / events.size());
    }
}
