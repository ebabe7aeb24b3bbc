package blackbox.bench.subject;

import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.ingest.parquet.EventFile;
import blackbox.ingest.parquet.RowGroup;
import blackbox.ingest.parquet.WrittenFile;
import blackbox.recorder.seal.BatchSink;
import blackbox.recorder.seal.EpochKeys;
import blackbox.recorder.seal.RunSealer;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.table.DataFileName;
import blackbox.schemas.table.FileSeal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/// A closed run on disk, sealed as a recorder does and written as ingest does: one file. Takes about 10
/// octets per event.
public record SealedRun(Path data, RunId run, Ed25519Key key, long events) {

    private static final int DISTINCT_EVENTS = 200_000;

    /// Writes a run of about `events` events below `data`, a batch at a time, with one key for all epochs.
    public static SealedRun write(Path data, int events) throws Exception {
        var random = new SecureRandom();
        Ed25519Key key = Ed25519Key.create("bench", random);
        List<Event> distinct = new Traffic(1).events(Math.min(events, DISTINCT_EVENTS));
        Iterable<Event> all = () -> IntStream.range(0, events)
                .mapToObj(i -> distinct.get(i % distinct.size()))
                .iterator();
        return write(data, RunId.create(Instant.now(), random), key, EpochKeys.always(key), all, _ -> {});
    }

    /// Writes `events` and the end of the run.
    ///
    /// @param key signs the file's seal, and becomes one of the data folder's trusted keys
    /// @param epochs sign the batches
    /// @param checkpoints receives each batch's checkpoint
    public static SealedRun write(
            Path data,
            RunId run,
            Ed25519Key key,
            EpochKeys epochs,
            Iterable<Event> events,
            Consumer<String> checkpoints)
            throws Exception {
        Path folder = Files.createDirectories(new DataFolder(data).dataFiles(run));
        Path keys = Files.createDirectories(new DataFolder(data).keys());
        Files.writeString(keys.resolve("bench.pub"), key.verifier().encoded() + "\n");
        Path staging = folder.resolve("staging");
        var random = new SecureRandom();
        try (var file = new EventFile(staging, random.nextLong())) {
            var group = new RowGroup(run, random.nextLong());
            BatchSink sink = batch -> {
                append(file, group, batch);
                checkpoints.accept(batch.checkpoint());
            };
            long size = seal(new RunSealer(run, epochs, sink, InstantSource.system()), events);
            file.write(group);
            WrittenFile written = file.finish("");
            var name = new DataFileName(0, size, "00000000");
            var seal = new FileSeal(run, name, size, Files.size(staging), written.sha256());
            Files.writeString(folder.resolve(name.sealName()), SignedNote.sign(seal.text(), key));
            Files.move(staging, folder.resolve(name.toString()));
            return new SealedRun(data, run, key, size);
        }
    }

    /// Seals them all, and the end of the run, and returns the run's size.
    public static long seal(RunSealer sealer, Iterable<Event> events) throws Exception {
        var numbers = new TreeMap<Integer, Long>();
        for (Event event : events) {
            GuestOrigin origin = event.header().origin();
            if (origin != null) {
                numbers.merge(origin.cpu(), origin.cpuSeq(), Math::max);
            }
            sealer.append(event);
            if (sealer.isFull()) {
                sealer.seal();
            }
        }
        var now = EventHeader.host(Instant.now().getEpochSecond() * 1_000_000_000L);
        numbers.forEach((cpu, number) -> sealer.append(new Event.TracerHeartbeat(
                new EventHeader(now.atNs(), Source.GUEST, new GuestOrigin(cpu, number + 1), null, Marks.NONE),
                "{\"final\":true}")));
        sealer.append(new Event.RunClose(now, sealer.size(), 0, 0, null, null));
        sealer.seal();
        return sealer.size();
    }

    private static void append(EventFile file, RowGroup group, SealedBatch batch) {
        LeafCursor leaves = batch.leaves();
        try {
            for (long index = batch.firstIndex(); leaves.next(); index++) {
                if (group.isFull()) {
                    file.write(group);
                    group.clear();
                }
                String checkpoint = index == batch.endIndex() - 1 ? batch.checkpoint() : null;
                group.append(index, leaves.array(), leaves.offset(), leaves.length(), checkpoint);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
