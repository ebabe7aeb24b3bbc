package blackbox.bench;

import blackbox.recorder.seal.RunSealer;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.sign.Ed25519Key;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;

/// Events sealed a second by one thread: canonical encoding, RFC 6962 tree, batches with heartbeat and Ed25519
/// checkpoint,
/// to a sink that only looks at the batch. Beside `openssl speed` hashing messages of the mean leaf's size once each.
///
/// The tree hashes a 65-octet node for every leaf besides the leaf, so at small leaves the hash alone is about twice
/// openssl's work.
final class Seal implements Benchmark {

    private static final int EVENTS = 3_000_000;
    private static final int WARM_UP_ROUNDS = 2;
    private static final int ROUNDS = 5;

    private long leafBytes;
    private long sealedBytes;

    @Override
    public String name() {
        return "seal";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        for (int i = 0; i < WARM_UP_ROUNDS; i++) {
            eventsPerSecond();
        }
        double best = 0;
        for (int i = 0; i < ROUNDS; i++) {
            best = Math.max(best, eventsPerSecond());
        }
        int meanLeafBytes = Math.toIntExact(leafBytes / EVENTS);
        double openssl = OpensslSpeed.sha256PerSecond(meanLeafBytes, 3);
        return List.of(BenchResult.of(name(), best, "events/s")
                .withGoal(new Goal.AtLeastOfBeside(0.6))
                .beside("openssl-sha256", openssl)
                .withNote("mean leaf " + meanLeafBytes + " octets; best of " + ROUNDS + " rounds of " + EVENTS
                        + " events; a leaf costs its own hash and one 65-octet node"));
    }

    private double eventsPerSecond() throws Exception {
        RunId run = RunId.create(Instant.EPOCH, new Random(1));
        var key = Ed25519Key.create("blackbox/bench", new SecureRandom());
        sealedBytes = 0;
        var sealer = new RunSealer(run, key, batch -> sealedBytes += batch.octets().length, InstantSource.system());
        Row[] rows = rows();
        leafBytes = 0;
        for (int i = 0; i < EVENTS; i++) {
            leafBytes += LeafCodec.size(rows[i & rows.length - 1]);
        }
        long start = System.nanoTime();
        for (int i = 0; i < EVENTS; i++) {
            Row row = rows[i & rows.length - 1];
            row.set(Column.AT_NS, 1_700_000_000_000_000_000L + i * 1_000L).set(Column.CPU_SEQ, 1_000_000L + i);
            sealer.append(row);
            if (sealer.isFull()) {
                sealer.seal();
            }
        }
        sealer.seal();
        double seconds = (System.nanoTime() - start) / 1e9;
        if (sealedBytes < leafBytes) {
            throw new IllegalStateException("less was sealed than was given");
        }
        return EVENTS / seconds;
    }

    /// File events with paths of a build, 1,024 different ones.
    private static Row[] rows() {
        var rows = new Row[1024];
        Text comm = Text.of("make");
        for (int i = 0; i < rows.length; i++) {
            rows[i] = new Row()
                    .set(Column.KIND, (i % 2 == 0 ? Kind.FILE_OPEN : Kind.FILE_IO).code())
                    .set(Column.AT_NS, 1_700_000_000_000_000_000L)
                    .set(Column.SOURCE, 1)
                    .set(Column.CPU, 0)
                    .set(Column.CPU_SEQ, 1_000_000)
                    .set(Column.PID, 1_000 + i % 50)
                    .set(Column.START_NS, 9_000_000_000L + i % 50)
                    .set(Column.COMM, comm)
                    .set(Column.UID, 1000)
                    .set(Column.PATH, Text.of("/workspace/src/module-" + i % 40 + "/file-" + i + ".c"))
                    .set(Column.RET, 0);
            if (i % 2 == 0) {
                rows[i].set(Column.FLAGS, 0x8000);
            } else {
                rows[i].set(Column.BYTES_READ, 4096 + i).set(Column.READS, 1);
            }
        }
        return rows;
    }
}
