package blackbox.ingest.kafka;

import blackbox.ingest.IngestException;
import blackbox.schemas.batch.BatchTopic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;

/// Reads records of the topic, of all its partitions or of those that are assigned to it as a member of a
/// group, from given offsets on. Owned by the consumer's thread.
///
/// The group has no offsets in Kafka: what a member is assigned it reads from where the table stands.
public final class BatchConsumer implements AutoCloseable {

    private static final int FETCH_BYTES_MAX = 32 << 20;
    private static final int RECORDS_PER_POLL_MAX = 64;
    private static final Duration BROKER_LOOK_EVERY = Duration.ofSeconds(5);
    private static final Duration BROKER_PATIENCE = Duration.ofSeconds(10);
    private static final Duration TOPIC_PATIENCE = Duration.ofSeconds(30);
    private static final Duration TOPIC_LOOK_EVERY = Duration.ofMillis(100);

    private final Properties clients;
    private final String cluster;
    private final KafkaConsumer<String, byte[]> consumer;
    private @Nullable IngestException failed;
    /// Whether it knows which partitions are its own, if any.
    private boolean assigned;

    private long lookedNs = System.nanoTime();

    /// What a member of a group is told, on the thread that polls. Sources are named as in
    /// [CommitState][blackbox.ingest.table.CommitState].
    public interface Assignment {

        /// These are its own from now on.
        ///
        /// @return the offsets to go on from; those that are missing begin at their first record
        Map<String, Long> assigned(Set<String> sources) throws IngestException;

        /// These become somebody else's when this returns.
        void revoked(Set<String> sources) throws IngestException;

        /// These have become somebody else's some time ago.
        void lost(Set<String> sources) throws IngestException;
    }

    /// One record: its position, as [CommitState][blackbox.ingest.table.CommitState] names it, and its
    /// content.
    public record Arrived(
            String source, long offset, @Nullable String key, byte[] octets) {}

    private BatchConsumer(Properties clients, String cluster, KafkaConsumer<String, byte[]> consumer) {
        this.clients = clients;
        this.cluster = cluster;
        this.consumer = consumer;
    }

    /// Starts to read all partitions at `offsets`, and at the beginning of those that they do not name.
    public static BatchConsumer ofAll(Properties clients, Map<String, Long> offsets) throws IngestException {
        return ofAll(clients, TopicAdmin.ensure(clients), offsets);
    }

    /// The same where the topic is known to be there, at least to one broker of the cluster.
    static BatchConsumer ofAll(Properties clients, String cluster, Map<String, Long> offsets) throws IngestException {
        return open(clients, cluster, settings(clients), made -> {
            List<TopicPartition> partitions = made.partitions();
            made.consumer.assign(partitions);
            made.assigned = true;
            made.seek(partitions, offsets);
        });
    }

    /// Joins a group and reads what is assigned.
    ///
    /// @param group its name
    public static BatchConsumer inGroup(Properties clients, String group, Assignment assignment)
            throws IngestException {
        String cluster = TopicAdmin.ensure(clients);
        Properties settings = settings(clients);
        settings.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        settings.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
        return open(
                clients,
                cluster,
                settings,
                made -> made.consumer.subscribe(List.of(BatchTopic.NAME), made.new Listener(assignment)));
    }

    private interface Beginning {
        void with(BatchConsumer made) throws IngestException;
    }

    private static BatchConsumer open(Properties clients, String cluster, Properties settings, Beginning beginning)
            throws IngestException {
        BatchConsumer made = null;
        try {
            made = new BatchConsumer(clients, cluster, consumer(settings));
            beginning.with(made);
            return made;
        } catch (KafkaException | IngestException e) {
            if (made != null) {
                made.close();
            }
            throw e instanceof IngestException known ? known : TopicAdmin.unreachable(clients, e);
        }
    }

    /// The topic's partitions. A broker may learn of a topic a moment after another one has said that it was
    /// created.
    private List<TopicPartition> partitions() throws IngestException {
        long deadline = System.nanoTime() + TOPIC_PATIENCE.toNanos();
        try {
            List<PartitionInfo> known = consumer.partitionsFor(BatchTopic.NAME);
            while (known.isEmpty()) {
                if (System.nanoTime() > deadline) {
                    throw new IngestException(
                            IngestException.Code.BROKER, "the brokers do not show the topic " + BatchTopic.NAME);
                }
                TimeUnit.MILLISECONDS.sleep(TOPIC_LOOK_EVERY.toMillis());
                known = consumer.partitionsFor(BatchTopic.NAME);
            }
            return known.stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IngestException(IngestException.Code.STOPPED, "interrupted while looking for the topic", e);
        }
    }

    private static KafkaConsumer<String, byte[]> consumer(Properties settings) {
        return new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
    }

    private void seek(Collection<TopicPartition> partitions, Map<String, Long> offsets) {
        for (TopicPartition partition : partitions) {
            Long offset = offsets.get(source(partition));
            if (offset == null) {
                consumer.seekToBeginning(List.of(partition));
            } else {
                consumer.seek(partition, offset);
            }
        }
    }

    /// Passes on what Kafka says while [#poll] runs; what fails there, [#poll] throws.
    private final class Listener implements ConsumerRebalanceListener {

        private final Assignment assignment;

        Listener(Assignment assignment) {
            this.assignment = assignment;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            try {
                assigned = true;
                seek(partitions, partitions.isEmpty() ? Map.of() : assignment.assigned(sources(partitions)));
            } catch (IngestException e) {
                failed = e;
            }
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            try {
                if (!partitions.isEmpty()) {
                    assignment.revoked(sources(partitions));
                }
            } catch (IngestException e) {
                failed = e;
            }
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            try {
                assignment.lost(sources(partitions));
            } catch (IngestException e) {
                failed = e;
            }
        }
    }

    private Set<String> sources(Collection<TopicPartition> partitions) {
        return partitions.stream().map(this::source).collect(Collectors.toSet());
    }

    private static Properties settings(Properties clients) {
        var settings = new Properties();
        settings.putAll(clients);
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, RECORDS_PER_POLL_MAX);
        settings.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, FETCH_BYTES_MAX);
        settings.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, BatchTopic.RECORD_BYTES_MAX);
        settings.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 100);
        return settings;
    }

    /// The available records, waiting for the first one for at most `timeout`.
    ///
    /// If the broker no longer has the next record, reading continues with the first one that it has: the
    /// check then finds the gap.
    public List<Arrived> poll(Duration timeout) throws IngestException {
        try {
            var arrived = new ArrayList<Arrived>();
            ConsumerRecords<String, byte[]> records = consumer.poll(timeout);
            requireAssignment();
            requireBroker();
            for (ConsumerRecord<String, byte[]> record : records) {
                String source = source(new TopicPartition(record.topic(), record.partition()));
                byte[] value = record.value();
                arrived.add(new Arrived(source, record.offset(), record.key(), value == null ? new byte[0] : value));
            }
            return arrived;
        } catch (OffsetOutOfRangeException e) {
            consumer.seekToBeginning(e.partitions());
            return List.of();
        } catch (InterruptException e) {
            throw new IngestException(IngestException.Code.STOPPED, "interrupted while reading the topic", e);
        } catch (KafkaException e) {
            requireAssignment();
            throw TopicAdmin.unreachable(clients, e);
        }
    }

    /// Asks the broker something now and then: when it is gone, polling only finds nothing.
    private void requireBroker() {
        long now = System.nanoTime();
        if (now - lookedNs > BROKER_LOOK_EVERY.toNanos()
                && !consumer.assignment().isEmpty()) {
            lookedNs = now;
            var _ = consumer.endOffsets(consumer.assignment(), BROKER_PATIENCE);
        }
    }

    /// How many records its partitions have behind those that were polled, as of the last answer of the broker;
    /// -1 if that is not known of one of them, or not which they are.
    public long unread() {
        if (!assigned) {
            return -1;
        }
        long unread = 0;
        for (TopicPartition partition : consumer.assignment()) {
            OptionalLong behind = consumer.currentLag(partition);
            if (behind.isEmpty()) {
                return -1;
            }
            unread += behind.getAsLong();
        }
        return unread;
    }

    private void requireAssignment() throws IngestException {
        if (failed != null) {
            throw failed;
        }
    }

    /// Lets the broker drop what is committed up to these offsets.
    public void release(Map<String, Long> offsets) throws IngestException {
        var partitions = new HashMap<TopicPartition, Long>();
        for (TopicPartition partition : consumer.assignment()) {
            Long offset = offsets.get(source(partition));
            if (offset != null) {
                partitions.put(partition, offset);
            }
        }
        TopicAdmin.release(clients, partitions);
    }

    private String source(TopicPartition partition) {
        return cluster + "/" + partition.topic() + "/" + partition.partition();
    }

    @Override
    public void close() {
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(2)));
    }
}
