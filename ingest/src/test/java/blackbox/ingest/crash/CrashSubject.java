package blackbox.ingest.crash;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.storage.LocalStore;
import blackbox.ingest.check.Ownership;
import blackbox.ingest.kafka.BrokerCredential;
import blackbox.ingest.kafka.ClusterNode;
import blackbox.ingest.kafka.EmbeddedBroker;
import blackbox.ingest.service.IngestRole;
import blackbox.ingest.service.IngestService;
import blackbox.ingest.service.IngestSettings;
import blackbox.ingest.service.IngestSettings.TopicRetention;
import blackbox.ingest.service.IngestStatus;
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
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.Random;

/// The programs that the crash tests kill: `host` is broker and ingest, `broker` only the former, `node` one
/// broker of a cluster, `member` one of a group that ingests, `recorder` records runs and prints `<run> <leaves
/// recorded>` after each batch, `drain` only publishes what recorders left behind.
final class CrashSubject {

    private static final long TIMEOUT_NS = Duration.ofSeconds(60).toNanos();

    /// The same in each of these processes, so that a broker that starts again lets the others in.
    private static final BrokerCredential EVERY_START = BrokerCredential.fresh(new SecureRandom() {
        private static final long serialVersionUID = 1L;

        @Override
        public void nextBytes(byte[] octets) {
            Arrays.fill(octets, (byte) 7);
        }
    });

    private final Path data;
    private final String servers;
    private final Properties clients = new Properties();

    /// What a recorder has to itself, as on a host of its own.
    private final Path own;

    private CrashSubject(Path data, String servers, int number) {
        this.data = data;
        this.servers = servers;
        this.own = CrashRig.recorderFolder(data, number);
        if (!servers.contains(",")) { // the embedded broker, which is one alone
            clients.putAll(EVERY_START.clientSettings());
        }
        clients.put("bootstrap.servers", servers);
    }

    /// Arguments: role, data folder, where brokers listen, where controllers listen, seed, and which recorder or
    /// which node it is.
    public static void main(String[] arguments) throws Exception {
        int number = Integer.parseInt(arguments[5]);
        var subject = new CrashSubject(Path.of(arguments[1]), arguments[2], number);
        switch (arguments[0]) {
            case "host" -> subject.host();
            case "broker" -> subject.broker();
            case "node" -> subject.node(number, arguments[3]);
            case "member" -> subject.member();
            case "recorder" -> subject.record(Long.parseLong(arguments[4]));
            case "drain" -> subject.drain();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.exit(0);
    }

    private static Ed25519Key key(Path file) throws IOException {
        return Ed25519Key.parse(Files.readString(file));
    }

    private List<NoteVerifier> trusted() throws IOException {
        var trusted = new ArrayList<NoteVerifier>();
        for (int recorder = 0; Files.exists(CrashRig.recorderFolder(data, recorder)); recorder++) {
            trusted.add(key(CrashRig.recorderFolder(data, recorder).resolve("recorder.key"))
                    .verifier());
        }
        return trusted;
    }

    private IngestSettings settings(TopicRetention retention, IngestRole role) throws IOException {
        List<NoteVerifier> trusted = trusted();
        return new IngestSettings(
                data,
                LocalStore.in(new DataFolder(data)),
                clients,
                retention,
                () -> trusted,
                key(data.resolve("ingest.key")),
                role);
    }

    private EmbeddedBroker embedded() throws Exception {
        return EmbeddedBroker.start(
                data.resolve("kafka"), Integer.parseInt(servers.substring(servers.indexOf(':') + 1)), EVERY_START);
    }

    /// Works until standard input ends.
    private void host() throws Exception {
        try (EmbeddedBroker _ = embedded();
                IngestService _ = IngestService.start(
                        settings(TopicRetention.RELEASE_COMMITTED, new IngestRole.Alone(Ownership.ALL)))) {
            System.out.println("ready");
            System.in.transferTo(OutputStream.nullOutputStream());
        }
    }

    private void broker() throws Exception {
        try (EmbeddedBroker _ = embedded()) {
            System.out.println("ready");
            System.in.transferTo(OutputStream.nullOutputStream());
        }
    }

    private void node(int id, String controllers) throws Exception {
        ClusterNode.start(data.resolve("node-" + id), id, servers, controllers);
        System.out.println("ready");
        System.in.transferTo(OutputStream.nullOutputStream());
    }

    private void member() throws Exception {
        // As soon as the broker permits, another member takes over from one that is silent.
        clients.put("session.timeout.ms", "6000");
        clients.put("heartbeat.interval.ms", "500");
        try (IngestService service = IngestService.start(settings(TopicRetention.KEEP, new IngestRole.Member()))) {
            System.out.println("ready");
            System.in.transferTo(OutputStream.nullOutputStream());
            IngestStatus status = service.status();
            System.err.println(status);
            if (status.phase() == IngestStatus.Phase.FAILED) {
                throw new IllegalStateException(status.trouble());
            }
        }
    }

    private void drain() throws Exception {
        try (var publisher = new KafkaPublisher(clients)) {
            new SpoolRecovery(own.resolve("spool"), own.resolve("quarantine"), _ -> false)
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
        Spool spool = Spool.create(own.resolve("spool"), run);
        var sealer = new RunSealer(run, key(own.resolve("recorder.key")), spool, InstantSource.system());
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
