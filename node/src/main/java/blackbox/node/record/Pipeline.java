package blackbox.node.record;

import blackbox.evidence.log.NoteVerifier;
import blackbox.ingest.IngestException;
import blackbox.ingest.kafka.EmbeddedBroker;
import blackbox.ingest.service.IngestRole;
import blackbox.ingest.service.IngestService;
import blackbox.ingest.service.IngestSettings;
import blackbox.ingest.service.IngestSettings.TopicRetention;
import blackbox.node.data.DataFiles;
import blackbox.node.data.LocalTrust;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.publish.KafkaPublisher;
import blackbox.recorder.spool.RunLock;
import blackbox.recorder.spool.SpoolRecovery;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Broker, publisher and ingest of one data folder, in this process. A data folder has one pipeline at a time, run
/// by whoever holds its lock. When it starts, it first publishes what crashed recorders left in their spools.
public final class Pipeline implements AutoCloseable {

    private static final Duration RECOVERY_TIMEOUT = Duration.ofMinutes(2);

    private final PipelineLock lock;
    private final @Nullable EmbeddedBroker broker;
    private final KafkaPublisher publisher;
    private final IngestService ingest;

    private Pipeline(
            PipelineLock lock, @Nullable EmbeddedBroker broker, KafkaPublisher publisher, IngestService ingest) {
        this.lock = lock;
        this.broker = broker;
        this.publisher = publisher;
        this.ingest = ingest;
    }

    /// Starts the pipeline under a lock that the caller has taken; the pipeline releases it when it is
    /// closed, or at once if it cannot start.
    public static Pipeline start(PipelineLock lock, DataFolder data, KafkaSettings kafka)
            throws IngestException, RecorderException, IOException {
        EmbeddedBroker broker = null;
        try {
            if (kafka.servers() == null) {
                broker = EmbeddedBroker.start(data.kafka(), EmbeddedBroker.ANY_PORT);
            }
            Properties clients = kafka.clients(broker == null ? null : broker.clients());
            lock.announce(broker == null ? KafkaSettings.addressOf(clients) : broker.clients());
            IngestService ingest = IngestService.start(new IngestSettings(
                    data.root(),
                    DataFiles.of(data),
                    clients,
                    broker == null ? TopicRetention.KEEP : TopicRetention.RELEASE_COMMITTED,
                    trust(data),
                    KeyFile.ofIngest(data),
                    new IngestRole.Alone(new OwnRuns(data))));
            return new Pipeline(lock, broker, new KafkaPublisher(clients), ingest);
        } catch (IngestException | RecorderException | IOException | RuntimeException | LinkageError e) {
            if (broker != null) {
                broker.close();
            }
            lock.close();
            throw e;
        }
    }

    /// The folder's long-term key is created before anything can be recorded under it, so that ingest knows
    /// it.
    private static Supplier<List<NoteVerifier>> trust(DataFolder data) throws IOException, RecorderException {
        if (LogKeys.conf(data.keys()) == null) {
            TransparencyLog.open(data).close();
        }
        return () -> {
            try {
                return List.copyOf(new LocalTrust(data).trustedKeys());
            } catch (IOException e) {
                throw new UncheckedIOException("the public keys in " + data.keys() + " cannot be read", e);
            }
        };
    }

    /// Publishes what dead recorders left behind, and adds the last checkpoint of each to the log of runs.
    public List<SpoolRecovery.Recovered> recover(DataFolder data) throws RecorderException {
        return recover(data, publisher);
    }

    /// The same with a publisher of its own. The caller holds the pipeline's lock.
    static List<SpoolRecovery.Recovered> recover(DataFolder data, KafkaPublisher publisher) throws RecorderException {
        List<SpoolRecovery.Recovered> recovered = new SpoolRecovery(
                        data.spool(), data.quarantine(), run -> RunLock.isHeld(data, run))
                .recover(publisher, RECOVERY_TIMEOUT.toNanos());
        List<String> last = recovered.stream()
                .flatMap(left -> Stream.ofNullable(left.checkpoint()))
                .toList();
        if (!last.isEmpty()) {
            try (TransparencyLog runs = TransparencyLog.open(data)) {
                runs.log().append(last);
            }
        }
        return recovered;
    }

    public KafkaPublisher publisher() {
        return publisher;
    }

    public IngestService ingest() {
        return ingest;
    }

    /// Waits until the table has all of the run's rows below `endIndex`.
    ///
    /// @return whether it has them
    public boolean await(RunId run, long endIndex, Duration timeout) throws IngestException {
        return ingest.await(run, endIndex, timeout) == IngestService.Awaited.COMMITTED;
    }

    @Override
    public void close() throws IOException {
        publisher.close();
        ingest.close();
        if (broker != null) {
            broker.close();
        }
        lock.close();
    }
}
