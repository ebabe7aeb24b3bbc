package blackbox.bench;

import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.ingest.parquet.EventFile;
import blackbox.ingest.parquet.RowGroup;
import blackbox.ingest.parquet.WrittenFile;
import blackbox.recorder.seal.RunSealer;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
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

/// A closed run on the disk, sealed as a recorder seals and written as ingest writes: one file. Takes about 10
/// octets an event.
record SealedRun(Path data, RunId run, Ed25519Key key, long events) {

    private static final int DISTINCT_EVENTS = 200_000;

    /// Writes a run of about `events` events below `data`, a batch at a time.
    static SealedRun write(Path data, int events) throws Exception {
        var random = new SecureRandom();
        Ed25519Key key = Ed25519Key.create("bench", random);
        RunId run = RunId.create(Instant.now(), random);
        Path folder = Files.createDirectories(data.resolve("warehouse/blackbox/events/data/run=" + run));
        Path keys = Files.createDirectories(data.resolve("keys"));
        Files.writeString(keys.resolve("bench.pub"), key.verifier().encoded() + "\n");
        Path staging = folder.resolve("staging");
        try (var file = new EventFile(staging, random.nextLong())) {
            var group = new RowGroup(run, random.nextLong());
            var sealer = new RunSealer(run, key, batch -> append(file, group, batch), InstantSource.system());
            seal(sealer, new Traffic(1).events(Math.min(events, DISTINCT_EVENTS)), events);
            long size = sealer.size();
            file.write(group);
            WrittenFile written = file.finish();
            var name = new DataFileName(0, size, "00000000");
            var seal = new FileSeal(run, name, size, Files.size(staging), written.sha256());
            Files.writeString(folder.resolve(name.sealName()), SignedNote.sign(seal.text(), key));
            Files.move(staging, folder.resolve(name.toString()));
            return new SealedRun(data, run, key, size);
        }
    }

    private static void seal(RunSealer sealer, List<Event> events, int count) throws Exception {
        for (int done = 0; done < count; done++) {
            sealer.append(events.get(done % events.size()));
            if (sealer.isFull()) {
                sealer.seal();
            }
        }
        sealer.append(new Event.RunClose(EventHeader.host(1), sealer.size(), 0, 0, null, null));
        sealer.seal();
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
