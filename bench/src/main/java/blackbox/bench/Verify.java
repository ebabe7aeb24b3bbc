package blackbox.bench;

import blackbox.ingest.parquet.EventFile;
import blackbox.ingest.parquet.RowGroup;
import blackbox.ingest.parquet.WrittenFile;
import blackbox.query.store.Recordings;
import blackbox.query.verify.RunVerifier;
import blackbox.query.verify.Verification;
import blackbox.recorder.seal.RunSealer;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.log.MerkleFrontier;
import blackbox.schemas.log.SignedNote;
import blackbox.schemas.sign.Ed25519Key;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.FileSeal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// Events a second that one thread verifies from committed Parquet: seals, decoding, canonical leaves, tree and
/// checkpoints; beside the hashing of the same leaves into a tree alone, which no verifier can do without.
final class Verify implements Benchmark {
    private static final int DISTINCT_EVENTS = 200_000;
    private static final int ROUNDS = 5;
    private static final int MEASUREMENTS = 7;

    private final Ed25519Key key = Ed25519Key.create("bench", new SecureRandom());
    private final SecureRandom random = new SecureRandom();

    @Override
    public String name() {
        return "verify";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        Path data = Files.createTempDirectory("blackbox-bench-");
        try {
            RunId run = RunId.create(Instant.now(), random);
            List<SealedBatch> batches = sealed(run, new Traffic(1).events(DISTINCT_EVENTS));
            write(data, run, batches);
            double verify = 0;
            double hash = 0;
            for (int round = 0; round < MEASUREMENTS; round++) {
                verify = Math.max(verify, verify(data, run, batches.getLast().endIndex()));
                hash = Math.max(hash, hash(batches));
            }
            return List.of(BenchResult.of(name(), verify, "events/s")
                    .withGoal(new Goal.AtLeast(1_000_000))
                    .beside("hashing the leaves alone", hash)
                    .withNote(String.format(
                            Locale.ROOT,
                            "One thread, %,d events in one run, best of %d.",
                            batches.getLast().endIndex(),
                            MEASUREMENTS)));
        } finally {
            Folders.delete(data);
        }
    }

    private List<SealedBatch> sealed(RunId run, List<Event> events) throws Exception {
        var batches = new ArrayList<SealedBatch>();
        var sealer = new RunSealer(run, key, batches::add, InstantSource.system());
        for (int round = 0; round < ROUNDS; round++) {
            for (Event event : events) {
                sealer.append(event);
                if (sealer.isFull()) {
                    sealer.seal();
                }
            }
        }
        sealer.append(new Event.RunClose(EventHeader.host(1), sealer.size(), 0, 0, null, null));
        sealer.seal();
        return batches;
    }

    /// As ingest writes: one file, sealed.
    private void write(Path data, RunId run, List<SealedBatch> batches) throws IOException {
        Path folder = Files.createDirectories(data.resolve("warehouse/blackbox/events/data/run=" + run));
        Path staging = folder.resolve("staging");
        try (var file = new EventFile(staging, random.nextLong())) {
            var group = new RowGroup(run, random.nextLong());
            for (SealedBatch batch : batches) {
                LeafCursor leaves = batch.leaves();
                for (long index = batch.firstIndex(); leaves.next(); index++) {
                    if (group.isFull()) {
                        file.write(group);
                        group.clear();
                    }
                    String checkpoint = index == batch.endIndex() - 1 ? batch.checkpoint() : null;
                    group.append(index, leaves.array(), leaves.offset(), leaves.length(), checkpoint);
                }
            }
            file.write(group);
            WrittenFile written = file.finish();
            var name = new DataFileName(0, batches.getLast().endIndex(), "00000000");
            var seal = new FileSeal(run, name, name.endIndex(), Files.size(staging), written.sha256());
            Files.writeString(folder.resolve(name.sealName()), SignedNote.sign(seal.text(), key));
            Files.move(staging, folder.resolve(name.toString()));
        }
    }

    private double verify(Path data, RunId run, long events) throws IOException {
        long start = System.nanoTime();
        Verification verification = RunVerifier.verify(new Recordings(data), run, List.of(key.verifier()));
        long elapsed = System.nanoTime() - start;
        boolean sound = verification.integrity() == Verification.Integrity.VERIFIED;
        if (!sound || verification.events() != events) {
            throw new IllegalStateException("the bench's own run does not verify: " + verification);
        }
        return events * 1e9 / elapsed;
    }

    private static double hash(List<SealedBatch> batches) {
        var tree = new MerkleFrontier();
        long start = System.nanoTime();
        for (SealedBatch batch : batches) {
            LeafCursor leaves = batch.leaves();
            while (leaves.next()) {
                tree.append(leaves.array(), leaves.offset(), leaves.length());
            }
        }
        return tree.size() * 1e9 / (System.nanoTime() - start);
    }
}
