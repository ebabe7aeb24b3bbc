package blackbox.ingest.kafka;

import blackbox.schemas.batch.BatchTopic;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/// One broker of a cluster, also one of its controllers, as an operator would set up three of them: each topic is on
/// all of them, and what is acknowledged is on two at least. It has the whole process to itself, which Kafka ends
/// when its log fails.
public final class ClusterNode {

    private static final Uuid CLUSTER = new Uuid(0x626c61636b626f78L, 1);
    private static final int TIMEOUT_MS = 10_000;

    private ClusterNode() {}

    /// Starts the node and returns once it accepts requests, which takes a majority of the nodes. It runs until the
    /// process ends.
    ///
    /// @param log its folder, in which it goes on if it has run there before
    /// @param id 1 for the first of the addresses
    /// @param servers where the brokers listen, with commas between
    /// @param controllers where the controllers listen, in the same order
    public static void start(Path log, int id, String servers, String controllers) throws Exception {
        format(log, id);
        var properties = new HashMap<String, Object>();
        putAddresses(properties, id, List.of(servers.split(",")), List.of(controllers.split(",")));
        properties.put("log.dirs", List.of(log.toString()));
        properties.put("auto.create.topics.enable", "false");
        properties.put("default.replication.factor", "3");
        properties.put("min.insync.replicas", "2");
        properties.put("offsets.topic.replication.factor", "3");
        properties.put("offsets.topic.num.partitions", "3");
        // Others take over from a killed broker after 3 s, and not after 9.
        properties.put("broker.session.timeout.ms", "3000");
        properties.put("broker.heartbeat.interval.ms", "500");
        properties.put("num.network.threads", "2");
        properties.put("num.io.threads", "2");
        properties.put("background.threads", "2");
        properties.put("num.recovery.threads.per.data.dir", "1");
        new KafkaRaftServer(new KafkaConfig(properties, false), Time.SYSTEM).startup();
    }

    private static void putAddresses(
            Map<String, Object> properties, int id, List<String> servers, List<String> controllers) {
        properties.put("process.roles", "broker,controller");
        properties.put("node.id", Integer.toString(id));
        properties.put(
                "controller.quorum.voters",
                IntStream.range(0, controllers.size())
                        .mapToObj(i -> (i + 1) + "@" + controllers.get(i))
                        .collect(Collectors.joining(",")));
        properties.put("listeners", "BROKER://" + servers.get(id - 1) + ",CONTROLLER://" + controllers.get(id - 1));
        properties.put("advertised.listeners", "BROKER://" + servers.get(id - 1));
        properties.put("listener.security.protocol.map", "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT");
        properties.put("inter.broker.listener.name", "BROKER");
        properties.put("controller.listener.names", "CONTROLLER");
    }

    private static void format(Path log, int id) throws Exception {
        if (Files.exists(log.resolve("meta.properties"))) {
            return;
        }
        new Formatter()
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .setClusterId(CLUSTER.toString())
                .setNodeId(id)
                .setControllerListenerName("CONTROLLER")
                .setReleaseVersion(MetadataVersion.latestProduction())
                .setMetadataLogDirectory(log.toString())
                .addDirectory(log.toString())
                .run();
    }

    /// How the topic of batches lies on a cluster.
    ///
    /// @param leaders the leading node of each partition, or 0 for one that has none
    /// @param replicas how many nodes each partition is on
    /// @param inSyncMin on how many of them a record must be before it is acknowledged
    public record Layout(List<Integer> leaders, List<Integer> replicas, int inSyncMin) {}

    /// What the cluster says of the topic.
    ///
    /// @throws ExecutionException when it does not answer
    public static Layout layout(String servers) throws ExecutionException, InterruptedException {
        var settings = new Properties();
        settings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, TIMEOUT_MS);
        settings.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, TIMEOUT_MS);
        var topic = new ConfigResource(ConfigResource.Type.TOPIC, BatchTopic.NAME);
        try (Admin admin = Admin.create(settings)) {
            List<TopicPartitionInfo> partitions = only(admin.describeTopics(List.of(BatchTopic.NAME))
                            .allTopicNames())
                    .partitions();
            Config config = only(admin.describeConfigs(List.of(topic)).all());
            return new Layout(
                    partitions.stream()
                            .map(each ->
                                    each.leader() == null ? 0 : each.leader().id())
                            .toList(),
                    partitions.stream().map(each -> each.replicas().size()).toList(),
                    Integer.parseInt(config.get("min.insync.replicas").value()));
        }
    }

    private static <V> V only(KafkaFuture<? extends Map<?, V>> answer) throws ExecutionException, InterruptedException {
        return answer.get().values().iterator().next();
    }
}
