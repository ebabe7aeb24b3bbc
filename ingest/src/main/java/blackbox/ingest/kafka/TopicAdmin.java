package blackbox.ingest.kafka;

import blackbox.ingest.IngestException;
import blackbox.ingest.IngestException.Code;
import blackbox.schemas.batch.BatchTopic;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;

/// Creates the topic of sealed batches, and drops records that are committed.
public final class TopicAdmin {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private TopicAdmin() {}

    /// Creates the topic if it is missing and returns the cluster's id.
    ///
    /// @param clients the clients' settings: bootstrap servers, TLS, SASL
    public static String ensure(Properties clients) throws IngestException {
        try (Admin admin = Admin.create(adminSettings(clients))) {
            String cluster = admin.describeCluster().clusterId().get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            if (!admin.listTopics()
                    .names()
                    .get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                    .contains(BatchTopic.NAME)) {
                create(admin);
            }
            return cluster;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IngestException(Code.STOPPED, "interrupted while looking for the topic " + BatchTopic.NAME, e);
        } catch (ExecutionException | TimeoutException | KafkaException e) {
            throw unreachable(clients, e);
        }
    }

    private static void create(Admin admin) throws ExecutionException, InterruptedException, TimeoutException {
        var topic = new NewTopic(BatchTopic.NAME, Optional.of(BatchTopic.PARTITIONS), Optional.empty())
                .configs(Map.of(
                        "max.message.bytes", Integer.toString(BatchTopic.RECORD_BYTES_MAX),
                        "cleanup.policy", "delete",
                        "retention.ms", "-1"));
        try {
            admin.createTopics(List.of(topic)).all().get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw e;
            }
        }
    }

    /// Tells the broker that records before these offsets are in the table and need not be kept.
    static void release(Properties clients, Map<TopicPartition, Long> offsets) throws IngestException {
        var records = new HashMap<TopicPartition, RecordsToDelete>();
        offsets.forEach((partition, offset) -> records.put(partition, RecordsToDelete.beforeOffset(offset)));
        try (Admin admin = Admin.create(adminSettings(clients))) {
            admin.deleteRecords(records).all().get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IngestException(Code.STOPPED, "interrupted while dropping ingested batches", e);
        } catch (ExecutionException | TimeoutException | KafkaException e) {
            throw unreachable(clients, e);
        }
    }

    private static Properties adminSettings(Properties clients) {
        var settings = new Properties();
        settings.putAll(clients);
        settings.putIfAbsent(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, (int) TIMEOUT.toMillis());
        settings.putIfAbsent(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, (int) TIMEOUT.toMillis());
        return settings;
    }

    static IngestException unreachable(Properties clients, Exception e) {
        Object servers = clients.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG);
        Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
        return new IngestException(
                Code.BROKER,
                "the broker at " + servers + " cannot be used: "
                        + cause.getClass().getSimpleName(),
                cause);
    }
}
