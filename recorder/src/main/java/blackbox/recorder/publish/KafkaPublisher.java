package blackbox.recorder.publish;

import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.recorder.spool.BatchPublisher;
import blackbox.schemas.batch.BatchTopic;
import blackbox.schemas.batch.SealedBatch;
import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/// Sends batches to the topic [BatchTopic]. Safe to use from several threads; a run's batches come from one.
///
/// A broker that cannot be reached is retried indefinitely, and [#trouble] says so meanwhile. A broker that
/// refuses (wrong credentials, record too large) ends the publisher: nothing after the refused batch is
/// acknowledged.
public final class KafkaPublisher implements BatchPublisher {

    /// The most octets sent and not yet acknowledged; beyond that [#publish] blocks.
    private static final long IN_FLIGHT_BYTES_MAX = 64L << 20;

    /// Octets of one partition's batches that go into a request, unless a single one is larger.
    private static final int REQUEST_BYTES = 1 << 20;

    /// After this time without the broker, [#trouble] says so.
    private static final int PATIENCE_MS = 5_000;

    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);

    private final KafkaProducer<String, byte[]> producer;
    private final Object servers;
    private volatile @Nullable String trouble;
    private volatile @Nullable RecorderException failure;
    private volatile boolean closed;

    /// Connects in the background.
    ///
    /// @param clients Kafka's client settings: `bootstrap.servers` and, for a real cluster, TLS and SASL
    /// @throws RecorderException `BROKER` when the settings cannot be used
    public KafkaPublisher(Properties clients) throws RecorderException {
        servers = clients.getOrDefault(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, "?");
        try {
            producer = new KafkaProducer<>(settings(clients), new StringSerializer(), new ByteArraySerializer());
        } catch (KafkaException e) {
            throw new RecorderException(Code.BROKER, "the broker settings for " + servers + " cannot be used", e);
        }
    }

    private static Properties settings(Properties clients) {
        var settings = new Properties();
        settings.putAll(clients);
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        // With several, the broker may refuse the first requests while it gets the topic ready, and take the later
        // ones: it accepts any number as a producer's first. The first ones are then tried again for ever
        // (KAFKA-14359).
        settings.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1");
        settings.put(ProducerConfig.BATCH_SIZE_CONFIG, REQUEST_BYTES);
        settings.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "zstd");
        settings.put(ProducerConfig.COMPRESSION_ZSTD_LEVEL_CONFIG, 1);
        settings.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, BatchTopic.RECORD_BYTES_MAX);
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, IN_FLIGHT_BYTES_MAX);
        settings.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Integer.MAX_VALUE);
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, PATIENCE_MS);
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 0);
        return settings;
    }

    @Override
    public void publish(SealedBatch batch, Runnable acknowledged) throws RecorderException {
        var record = new ProducerRecord<>(BatchTopic.NAME, batch.run().value(), batch.octets());
        Attempt attempt;
        do {
            checkUsable();
            attempt = new Attempt(acknowledged, Thread.currentThread());
            send(record, attempt);
        } while (attempt.notSent);
    }

    private void send(ProducerRecord<String, byte[]> record, Attempt attempt) throws RecorderException {
        try {
            var _ = producer.send(record, attempt);
        } catch (InterruptException e) {
            Thread.currentThread().interrupt();
            throw new RecorderException(Code.CLOSED, "interrupted while publishing", e);
        } catch (KafkaException | IllegalStateException e) {
            throw refused(e);
        }
    }

    /// One attempt to send. Called back on the publishing thread if the record was never accepted, because
    /// the broker is unknown or too much is in flight; otherwise on the producer's thread, in the order of
    /// sending.
    private final class Attempt implements Callback {

        private final Runnable acknowledged;
        private final Thread publishing;
        private boolean notSent;

        Attempt(Runnable acknowledged, Thread publishing) {
            this.acknowledged = acknowledged;
            this.publishing = publishing;
        }

        @Override
        public void onCompletion(@Nullable RecordMetadata metadata, @Nullable Exception e) {
            if (e instanceof TimeoutException && Thread.currentThread().equals(publishing)) {
                notSent = true;
                trouble = "the broker at " + servers + " does not accept batches; they are kept in the spool ("
                        + reason(e) + ")";
            } else if (e != null) {
                if (!closed) {
                    refused(e);
                }
            } else if (failure == null) {
                trouble = null;
                acknowledged.run();
            }
        }
    }

    private RecorderException refused(Exception e) {
        String how = e instanceof RetriableException ? "gave up on" : "refused";
        var refusal = new RecorderException(
                Code.BROKER, "the broker at " + servers + " " + how + " a batch; batches are kept in the spool", e);
        failure = refusal;
        trouble = refusal.getMessage() + " (" + reason(e) + ")";
        return refusal;
    }

    private void checkUsable() throws RecorderException {
        RecorderException refusal = failure;
        if (refusal != null) {
            throw new RecorderException(refusal.code(), "the publisher has stopped", refusal);
        }
        if (closed) {
            throw new RecorderException(Code.CLOSED, "the publisher is closed");
        }
    }

    /// What currently keeps batches from the broker, as a sentence, or null.
    public @Nullable String trouble() {
        return trouble;
    }

    private static String reason(Exception e) {
        String message = e.getMessage();
        return message == null ? e.getClass().getSimpleName() : message;
    }

    /// Stops sending; what was not acknowledged stays in the spool.
    @Override
    public void close() {
        closed = true;
        producer.close(CLOSE_PATIENCE);
    }
}
