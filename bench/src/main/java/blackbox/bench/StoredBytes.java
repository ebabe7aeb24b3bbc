package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.Traffic;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.storage.LocalStore;
import blackbox.ingest.IngestException;
import blackbox.ingest.table.CommitState;
import blackbox.ingest.table.CommitStep;
import blackbox.ingest.table.DataFileEntry;
import blackbox.ingest.table.EventTable;
import blackbox.ingest.table.TableWriter;
import blackbox.recorder.seal.RunSealer;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.zip.Deflater;

/// Octets on disk per event of a closed run: data files and their seals, checkpoints and heartbeats included. The
/// run is as long and as busy as the demo's: a minute, two batches per second, commits at ingest's pace.
final class StoredBytes implements Benchmark {
    private static final int EVENTS = 30_000;
    private static final Duration RUN = Duration.ofSeconds(60);
    private static final Duration BATCH = Duration.ofMillis(500);
    private static final Duration COMMIT = Duration.ofSeconds(2);

    @Override
    public String name() {
        return "stored-bytes";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        Path data = Files.createTempDirectory("blackbox-bench-");
        try {
            return List.of(measure(data));
        } finally {
            Folders.delete(data);
        }
    }

    private static BenchResult measure(Path data) throws Exception {
        var random = new SecureRandom();
        var key = Ed25519Key.create("bench", random);
        RunId run = RunId.create(Instant.now(), random);
        List<Event> events = new Traffic(1).events(EVENTS);
        long[] rows = new long[1];
        var deflated = new Deflated();
        try (EventTable table = EventTable.openForWriting(new DataFolder(data), LocalStore.in(new DataFolder(data)));
                var writer = new TableWriter(table, key, random, CommitStep.Observer.NONE)) {
            var clock = new long[] {Instant.now().getEpochSecond()};
            var sealer = new RunSealer(
                    run,
                    key,
                    batch -> {
                        rows[0] = batch.endIndex();
                        deflated.add(batch.octets());
                        append(writer, batch);
                    },
                    () -> Instant.ofEpochSecond(clock[0]));
            long batches = RUN.dividedBy(BATCH);
            int at = 0;
            for (int batch = 0; batch < batches; batch++) {
                for (long end = (batch + 1L) * EVENTS / batches; at < end; at++) {
                    sealer.append(events.get(at));
                }
                sealer.seal();
                if (batch % COMMIT.dividedBy(BATCH) == 0) {
                    writer.commit(CommitState.EMPTY);
                }
            }
            sealer.seal();
            writer.complete(run);
            writer.commit(CommitState.EMPTY);
            return result(table, run, rows[0])
                    .beside("deflate -9 of the same batches", (double) deflated.end() / rows[0]);
        }
    }

    /// The size of the same octets, as one stream, after a general-purpose compressor.
    private static final class Deflated {

        private final Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
        private final byte[] dropped = new byte[1 << 16];

        void add(byte[] octets) {
            deflater.setInput(octets);
            while (!deflater.needsInput()) {
                deflater.deflate(dropped);
            }
        }

        /// The total length of the compressed octets.
        long end() {
            deflater.finish();
            while (!deflater.finished()) {
                deflater.deflate(dropped);
            }
            long octets = deflater.getBytesWritten();
            deflater.end();
            return octets;
        }
    }

    private static void append(TableWriter writer, SealedBatch batch) {
        try {
            writer.append(batch);
        } catch (IngestException e) {
            throw new IllegalStateException(e);
        }
    }

    private static BenchResult result(EventTable table, RunId run, long rows) throws Exception {
        long bytes = 0;
        List<DataFileEntry> files = table.plan(run);
        for (DataFileEntry file : files) {
            bytes += file.sizeBytes()
                    + Files.size(file.path().resolveSibling(file.name().sealName()));
        }
        return BenchResult.of("stored-bytes", (double) bytes / rows, "B/event")
                .withGoal(new Goal.AtMost(16))
                .withNote(String.format(
                        Locale.ROOT,
                        "%,d rows of a run of a minute in %d file(s) after its close; the footer's share is about 10 KB a file.",
                        rows,
                        files.size()));
    }
}
