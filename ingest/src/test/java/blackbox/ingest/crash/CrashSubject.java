package blackbox.ingest.crash;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.storage.LocalStore;
import blackbox.ingest.check.Ownership;
import blackbox.ingest.kafka.EmbeddedBroker;
import blackbox.ingest.service.IngestRole;
import blackbox.ingest.service.IngestService;
import blackbox.ingest.service.IngestSettings;
import blackbox.ingest.service.IngestSettings.TopicRetention;
import blackbox.recorder.publish.KafkaPublisher;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.recorder.spool.SpoolPump;
import blackbox.recorder.spool.SpoolRecovery;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Properties;
import java.util.Random;

/// The programs that [CrashTest] and [GroupCrashTest] kill: `host` is broker and ingest, `broker` only the
/// former, `member` one of a group that ingests, `recorder` records runs and prints `<run> <leaves
/// recorded>` after each batch, `drain` only publishes what recorders left behind.
final class CrashSubject {

    private static final long TIMEOUT_NS = Duration.ofSeconds(60).toNanos();

    private final Path data;
    private final Properties clients = new Properties();
    private final int port;

    private CrashSubject(Path data, int port) {
        this.data = data;
        this.port = port;
        clients.put("bootstrap.servers", "127.0.0.1:" + port);
    }

    public static void main(String[] arguments) throws Exception {
        var subject = new CrashSubject(Path.of(arguments[1]), Integer.parseInt(arguments[2]));
        switch (arguments[0]) {
            case "host" -> subject.host();
            case "broker" -> subject.broker();
            case "member" -> subject.member();
            case "recorder" -> subject.record(Long.parseLong(arguments[3]));
            case "drain" -> subject.drain();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.exit(0);
    }

    private Ed25519Key key(String name) throws Exception {
        return Ed25519Key.parse(Files.readString(data.resolve(name + ".key")));
    }

    /// Works until standard input ends.
    private void host() throws Exception {
        List<NoteVerifier> trusted = List.of(key("recorder").verifier());
        var settings = new IngestSettings(
                data,
                LocalStore.in(new DataFolder(data)),
                clients,
                TopicRetention.RELEASE_COMMITTED,
                () -> trusted,
                key("ingest"),
                new IngestRole.Alone(Ownership.ALL));
        try (EmbeddedBroker _ = EmbeddedBroker.start(data.resolve("kafka"), port);
                IngestService _ = IngestService.start(settings)) {
            System.out.println("ready");
            System.in.transferTo(OutputStream.nullOutputStream());
        }
    }

    private void broker() throws Exception {
        try (EmbeddedBroker _ = EmbeddedBroker.start(data.resolve("kafka"), port)) {
            System.out.println("ready");
            System.in.transferTo(OutputStream.nullOutputStream());
        }
    }

    private void member() throws Exception {
        // As soon as the broker permits, another member takes over from one that is silent.
        clients.put("session.timeout.ms", "6000");
        clients.put("heartbeat.interval.ms", "500");
        List<NoteVerifier> trusted = List.of(key("recorder").verifier());
        var settings = new IngestSettings(
                data,
                LocalStore.in(new DataFolder(data)),
                clients,
                TopicRetention.KEEP,
                () -> trusted,
                key("ingest"),
                new IngestRole.Member());
        try (IngestService service = IngestService.start(settings)) {
            System.out.println("ready");
            System.in.transferTo(OutputStream.nullOutputStream());
            System.err.println(service.status());
        }
    }

    private void drain() throws Exception {
        try (var publisher = new KafkaPublisher(clients)) {
            new SpoolRecovery(data.resolve("spool"), data.resolve("quarantine"), _ -> false)
                    .recover(publisher, TIMEOUT_NS);
        }
    }

    private void record(long seed) throws Exception {
        var random = new Random(seed);
        drain();
        System.out.println("ready");
        try (var publisher = new KafkaPublisher(clients)) {
            while (true) {
                recordRun(publisher, random);
            }
        }
    }

    private void recordRun(KafkaPublisher publisher, Random random) throws Exception {
        RunId run = RunId.create(Instant.now(), random);
        Spool spool = Spool.create(data.resolve("spool"), run);
        var sealer = new RunSealer(run, key("recorder"), spool, InstantSource.system());
        try (var _ = new SpoolPump(spool, publisher, run.value())) {
            for (int batches = 1 + random.nextInt(30); batches > 0; batches--) {
                for (int events = random.nextInt(8); events > 0; events--) {
                    sealer.append(event(sealer.size(), random));
                }
                if (batches == 1) {
                    sealer.append(
                            new Row().set(Column.KIND, Kind.RUN_CLOSE.code()).set(Column.EVENTS, sealer.size()));
                }
                sealer.seal();
                System.out.println(run + " " + sealer.size());
            }
            spool.close();
            spool.awaitEmpty(TIMEOUT_NS);
        }
    }

    private static Row event(long index, Random random) {
        return new Row()
                .set(Column.KIND, Kind.FILE_OPEN.code())
                .set(Column.AT_NS, System.nanoTime())
                .set(Column.SOURCE, Source.GUEST.code())
                .set(Column.CPU_SEQ, index)
                .set(Column.PATH, "/workspace/" + random.nextInt(100))
                .set(Column.RET, random.nextInt(100));
    }
}
