package blackbox.bench;

import blackbox.bench.result.BenchResult;
import blackbox.bench.result.Goal;
import blackbox.bench.subject.Folders;
import blackbox.bench.subject.Traffic;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.storage.LocalStore;
import blackbox.ingest.check.Ownership;
import blackbox.ingest.kafka.BatchConsumer;
import blackbox.ingest.kafka.EmbeddedBroker;
import blackbox.ingest.parquet.EventFile;
import blackbox.ingest.parquet.RowGroup;
import blackbox.ingest.service.IngestRole;
import blackbox.ingest.service.IngestService;
import blackbox.ingest.service.IngestSettings;
import blackbox.ingest.service.IngestSettings.TopicRetention;
import blackbox.recorder.publish.KafkaPublisher;
import blackbox.recorder.seal.BatchSink;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.recorder.spool.SpoolPump;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.folder.DataFolder;
import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Events per second from the sealer through spool, broker and check to committed Parquet, all in this process,
/// compared with its two limits: producing the same batches to the same broker, and writing the same leaves to
/// Parquet, each alone.
final class Pipeline implements Benchmark {
    private static final int DISTINCT_EVENTS = Scale.CURRENT.count(200_000, 20_000);
    private static final int ROUNDS = Scale.CURRENT.rounds(10);
    private static final int MEASUREMENTS = Scale.CURRENT.rounds(4);
    private static final long EVENTS = (long) DISTINCT_EVENTS * ROUNDS;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private double cpuMicrosMin = Double.MAX_VALUE;
    private final Ed25519Key key = Ed25519Key.create("bench", new SecureRandom());
    private final SecureRandom random = new SecureRandom();

    @Override
    public String name() {
        return "pipeline";
    }

    @Override
    public List<BenchResult> run() throws Exception {
        Path data = Files.createTempDirectory("blackbox-bench-");
        List<Event> events = new Traffic(1).events(DISTINCT_EVENTS);
        try {
            double whole = overBroker(data.resolve("whole"), clients -> whole(events, data.resolve("whole"), clients));
            List<SealedBatch> batches = sealed(events);
            double produce = overBroker(data.resolve("produce"), clients -> produce(batches, clients));
            double write = 0;
            for (int round = 0; round < MEASUREMENTS; round++) {
                write = Math.max(write, write(batches, data.resolve("bare" + round + ".parquet")));
            }
            return List.of(result(whole, produce, write));
        } finally {
            Folders.delete(data);
        }
    }

    private BenchResult result(double whole, double produce, double write) {
        int processors = Runtime.getRuntime().availableProcessors();
        return BenchResult.of(name(), whole, "events/s")
                .withGoal(new Goal.AtLeastOfBeside(0.6))
                .beside(write < produce ? "bare Parquet write" : "bare Kafka produce", Math.min(write, produce))
                .withNote(String.format(
                        Locale.ROOT,
                        "Best of %d each. Bare Kafka produce %,.0f/s, bare Parquet write %,.0f/s. All stages together took"
                                + " %.2f us of processor time per event: %d otherwise idle processors could process"
                                + " %,.0f/s.",
                        MEASUREMENTS,
                        produce,
                        write,
                        cpuMicrosMin,
                        processors,
                        processors * 1e6 / cpuMicrosMin));
    }

    /// Something that is measured with a broker of its own.
    private interface Measured {
        double perSecond(Properties clients) throws Exception;
    }

    private static double overBroker(Path folder, Measured measured) throws Exception {
        double best = 0;
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("kafka"), EmbeddedBroker.ANY_PORT)) {
            Properties clients = broker.clients();
            BatchConsumer.ofAll(clients, Map.of()).close();
            for (int round = 0; round < MEASUREMENTS; round++) {
                best = Math.max(best, measured.perSecond(clients));
            }
        }
        return best;
    }

    private List<SealedBatch> sealed(List<Event> events) throws Exception {
        var batches = new ArrayList<SealedBatch>();
        seal(events, 1, RunId.create(Instant.now(), random), batches::add);
        return batches;
    }

    private void seal(List<Event> events, int rounds, RunId run, BatchSink sink) throws Exception {
        var sealer = new RunSealer(run, key, sink, InstantSource.system());
        for (int round = 0; round < rounds; round++) {
            for (Event event : events) {
                sealer.append(event);
                if (sealer.isFull()) {
                    sealer.seal();
                }
            }
        }
        sealer.seal();
    }

    private double whole(List<Event> events, Path data, Properties clients) throws Exception {
        var settings = new IngestSettings(
                data,
                LocalStore.in(new DataFolder(data)),
                clients,
                TopicRetention.RELEASE_COMMITTED,
                () -> List.of(key.verifier()),
                key,
                new IngestRole.Alone(Ownership.ALL));
        RunId run = RunId.create(Instant.now(), random);
        try (IngestService ingest = IngestService.start(settings);
                var publisher = new KafkaPublisher(clients)) {
            Spool spool = Spool.create(new DataFolder(data).spool(), run);
            long start = System.nanoTime();
            long cpu = SYSTEM.getProcessCpuTime();
            long last;
            try (var pump = new SpoolPump(spool, publisher, "bench")) {
                var end = new long[1];
                seal(events, ROUNDS, run, batch -> {
                    spool.write(batch);
                    end[0] = batch.endIndex();
                });
                spool.close();
                last = end[0];
                IngestService.Awaited awaited = ingest.await(run, last, PATIENCE);
                if (awaited != IngestService.Awaited.COMMITTED || pump.failure() != null) {
                    throw new IllegalStateException(awaited + ", " + ingest.status() + ", " + pump.failure());
                }
            }
            cpuMicrosMin = Math.min(cpuMicrosMin, (SYSTEM.getProcessCpuTime() - cpu) / 1e3 / last);
            return last * 1e9 / (System.nanoTime() - start);
        }
    }

    private static double produce(List<SealedBatch> batches, Properties clients) throws Exception {
        try (var publisher = new KafkaPublisher(clients)) {
            var waiting = new CountDownLatch(batches.size() * ROUNDS);
            long start = System.nanoTime();
            for (int round = 0; round < ROUNDS; round++) {
                for (SealedBatch batch : batches) {
                    publisher.publish(batch, waiting::countDown);
                }
            }
            if (!waiting.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("the broker did not acknowledge a batch: " + publisher.trouble());
            }
            return EVENTS * 1e9 / (System.nanoTime() - start);
        }
    }

    private double write(List<SealedBatch> batches, Path path) throws IOException {
        long index = 0;
        long start = System.nanoTime();
        try (var file = new EventFile(path, random.nextLong())) {
            var group = new RowGroup(batches.getFirst().run(), random.nextLong());
            for (int round = 0; round < ROUNDS; round++) {
                for (SealedBatch batch : batches) {
                    LeafCursor leaves = batch.leaves();
                    while (leaves.next()) {
                        if (group.isFull()) {
                            file.write(group);
                            group.clear();
                        }
                        group.append(index++, leaves.array(), leaves.offset(), leaves.length(), null);
                    }
                }
            }
            file.write(group);
            file.finish("");
        }
        return index * 1e9 / (System.nanoTime() - start);
    }
}
