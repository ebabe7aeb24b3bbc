package blackbox.bench;

import blackbox.bench.subject.SealedRun;
import blackbox.bench.subject.Traffic;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.MlDsaKey;
import blackbox.files.Folders;
import blackbox.node.record.TransparencyLog;
import blackbox.recorder.runlog.TransparencyLogWriter;
import blackbox.recorder.seal.BatchSink;
import blackbox.recorder.seal.EphemeralKeys;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/// A small run of invented events, certified and sealed as `blackbox record` does and written as ingest does.
/// The build queries one to train the start-up cache, and the benchmark `answers` queries one, too. Needs no
/// VM.
///
/// `java … blackbox.bench.SampleRun written|spooled FOLDER` makes one below that data folder, as ingest
/// writes it or as a recorder that was killed leaves it to ingest.
final class SampleRun {
    /// About as many events as the demo records.
    static final int EVENTS = 2_000;

    private static final String LOG = "blackbox/log/sample";

    private SampleRun() {}

    public static void main(String[] arguments) throws Exception {
        Path data = Path.of(arguments[1]);
        switch (arguments[0]) {
            case "written" -> write(data);
            case "spooled" -> spool(data);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    static SealedRun write(Path data) throws Exception {
        var random = new SecureRandom();
        Instant now = Instant.now();
        RunId run = RunId.create(now, random);
        Ed25519Key longTerm = Ed25519Key.create(LOG, random);
        var signer = new TransparencyLogWriter.Signer(List.of(longTerm, MlDsaKey.create44(LOG, random)), now, null);
        var log = new TransparencyLogWriter(new DataFolder(data).log(), signer, InstantSource.system());
        var keys = new EphemeralKeys(run, random);
        List<String> checkpoints = new ArrayList<>();
        List<Event> events = events(now, log.certify(run, keys.first()));
        SealedRun made = SealedRun.write(data, run, longTerm, keys, events, checkpoints::add);
        log.append(List.of(checkpoints.getLast()));
        Files.createDirectories(new DataFolder(data).keys());
        Files.writeString(new DataFolder(data).logKey(), longTerm.verifier().encoded() + "\n");
        return made;
    }

    /// With the keys of the data folder: ingest continues its log of runs.
    private static void spool(Path root) throws Exception {
        var data = new DataFolder(root);
        Folders.createPrivate(data.keys());
        var random = new SecureRandom();
        Instant now = Instant.now();
        RunId run = RunId.create(now, random);
        var keys = new EphemeralKeys(run, random);
        try (TransparencyLog runs = TransparencyLog.open(data);
                Spool spool = Spool.create(data.spool(), run)) {
            List<String> checkpoints = new ArrayList<>();
            BatchSink sink = batch -> {
                spool.write(batch);
                checkpoints.add(batch.checkpoint());
            };
            List<Event> events = events(now, runs.log().certify(run, keys.first()));
            SealedRun.seal(new RunSealer(run, keys, sink, InstantSource.system()), events);
            runs.log().append(List.of(checkpoints.getLast()));
        }
    }

    private static List<Event> events(Instant now, String certificate) {
        var detail = new ObjectMapper().createObjectNode().put("tier", "live");
        detail.putObject("recorder").put("certificate", certificate);
        var events = new ArrayList<Event>();
        var header = EventHeader.host(now.getEpochSecond() * 1_000_000_000L);
        events.add(new Event.RunOpen(header, Text.of("sample"), detail.toString()));
        events.addAll(new Traffic(1).events(EVENTS));
        return events;
    }
}
