package blackbox.ingest.kafka;

import blackbox.ingest.IngestException;
import blackbox.schemas.batch.BatchTopic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;

/// Reads the records of all partitions from given offsets on. Owned by the consumer's thread.
public final class BatchConsumer implements AutoCloseable {

    private static final int FETCH_BYTES_MAX = 32 << 20;
    private static final int RECORDS_PER_POLL_MAX = 64;

    private final Properties clients;
    private final String cluster;
    private final KafkaConsumer<String, byte[]> consumer;

    /// One record: its position, as [CommitState][blackbox.ingest.table.CommitState] names it, and its
    /// content.
    public record Arrived(
            String source, long offset, @Nullable String key, byte[] octets) {}

    /// Starts to read at `offsets`, and at the beginning of partitions that they do not name.
    public BatchConsumer(Properties clients, Map<String, Long> offsets) throws IngestException {
        this.clients = clients;
        this.cluster = TopicAdmin.ensure(clients);
        try {
            this.consumer =
                    new KafkaConsumer<>(settings(clients), new StringDeserializer(), new ByteArrayDeserializer());
            List<TopicPartition> partitions = consumer.partitionsFor(BatchTopic.NAME).stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
            consumer.assign(partitions);
            for (TopicPartition partition : partitions) {
                Long offset = offsets.get(source(partition));
                if (offset == null) {
                    consumer.seekToBeginning(List.of(partition));
                } else {
                    consumer.seek(partition, offset);
                }
            }
        } catch (KafkaException e) {
            throw TopicAdmin.unreachable(clients, e);
        }
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
            for (ConsumerRecord<String, byte[]> record : consumer.poll(timeout)) {
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
            throw TopicAdmin.unreachable(clients, e);
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
