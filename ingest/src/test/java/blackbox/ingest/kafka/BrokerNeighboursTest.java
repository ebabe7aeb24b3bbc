package blackbox.ingest.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.ingest.Traffic;
import blackbox.ingest.kafka.BatchConsumer.Arrived;
import blackbox.recorder.publish.KafkaPublisher;
import blackbox.schemas.batch.BatchTopic;
import blackbox.schemas.batch.SealedBatch;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnsupportedSaslMechanismException;
import org.apache.kafka.common.message.UnregisterBrokerRequestData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.MetadataRequest;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.UnregisterBrokerRequest;
import org.apache.kafka.common.requests.VoteRequest;
import org.apache.kafka.common.security.plain.PlainLoginModule;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Every user of the machine can connect to the ports of the embedded broker and of its controller. Without the
/// credential of this start that leads nowhere.
final class BrokerNeighboursTest {

    private static final int PATIENCE_MS = 1_500;
    private static final int LISTENING = 0x0A;

    @TempDir
    Path folder;

    @TempDir
    Path another;

    private EmbeddedBroker broker;
    private Set<Integer> ports;
    private final Traffic traffic = new Traffic(new Random(1));

    /// Something to be refused.
    private interface Attempt {
        KafkaFuture<?> at(Admin admin);
    }

    private static final List<Attempt> ATTEMPTS = List.of(
            admin -> admin.describeCluster().clusterId(),
            admin -> admin.listTopics().names(),
            admin -> admin.describeTopics(List.of(BatchTopic.NAME)).allTopicNames(),
            admin -> admin.deleteTopics(List.of(BatchTopic.NAME)).all(),
            admin -> admin.createTopics(List.of(new NewTopic("mine", 1, (short) 1)))
                    .all(),
            admin -> admin.deleteRecords(
                            Map.of(new TopicPartition(BatchTopic.NAME, 0), RecordsToDelete.beforeOffset(-1)))
                    .all(),
            admin -> admin.listGroups().all());

    private static final List<Attempt> ATTEMPTS_AT_EITHER = List.of(
            admin -> admin.describeCluster().clusterId(),
            admin -> admin.describeMetadataQuorum().quorumInfo(),
            admin -> admin.describeFeatures().featureMetadata(),
            admin -> admin.unregisterBroker(1).all(),
            admin -> admin.describeAcls(AclBindingFilter.ANY).values(),
            admin -> admin.incrementalAlterConfigs(Map.of(
                            new ConfigResource(ConfigResource.Type.BROKER, "1"),
                            List.of(new AlterConfigOp(
                                    new ConfigEntry("log.retention.ms", "1"), AlterConfigOp.OpType.SET))))
                    .all());

    @BeforeEach
    void start() throws Exception {
        Set<Integer> before = listening();
        broker = EmbeddedBroker.start(folder, EmbeddedBroker.ANY_PORT);
        ports = new HashSet<>(listening());
        ports.removeAll(before);
        assertEquals(2, ports.size(), "one of the broker, one of the controller");
        TopicAdmin.ensure(broker.clients());
        for (int i = 0; i < 4; i++) {
            traffic.batch(10);
        }
        try (var publisher = new KafkaPublisher(broker.clients())) {
            publish(publisher, traffic.batches());
        }
    }

    /// Whatever was tried: all is still there, and its owner still gets at it.
    @AfterEach
    void stop() throws Exception {
        try (EmbeddedBroker _ = broker;
                var consumer = BatchConsumer.ofAll(broker.clients(), Map.of())) {
            var arrived = new ArrayList<Arrived>();
            for (int i = 0; i < 100 && arrived.size() < 4; i++) {
                arrived.addAll(consumer.poll(Duration.ofMillis(100)));
            }
            assertEquals(4, arrived.size());
            for (int i = 0; i < 4; i++) {
                assertArrayEquals(
                        traffic.batches().get(i).octets(), arrived.get(i).octets());
            }
            assertNull(broker.failure());
        }
    }

    private static void publish(KafkaPublisher publisher, List<SealedBatch> batches) throws Exception {
        var waiting = new CountDownLatch(batches.size());
        for (SealedBatch batch : batches) {
            publisher.publish(batch, waiting::countDown);
        }
        assertTrue(waiting.await(60, TimeUnit.SECONDS));
    }

    /// The TCP ports of loopback at which this process listens, as the kernel has them (proc(5)).
    private static Set<Integer> listening() throws IOException {
        var sockets = new HashSet<String>();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            for (Path each : descriptors.toList()) {
                if (Files.isSymbolicLink(each)) { // that of the listing is gone
                    sockets.add(Files.readSymbolicLink(each).toString());
                }
            }
        }
        var ports = new HashSet<Integer>();
        for (String table : List.of("/proc/self/net/tcp", "/proc/self/net/tcp6")) {
            for (String line : Files.readAllLines(Path.of(table))) {
                String[] fields = line.strip().split("\\s+");
                if (fields[3].equals("%02X".formatted(LISTENING)) && sockets.contains("socket:[" + fields[9] + "]")) {
                    ports.add(Integer.parseInt(fields[1].substring(fields[1].indexOf(':') + 1), 16));
                }
            }
        }
        return ports;
    }

    private static Properties as(Properties settings) {
        settings.put("default.api.timeout.ms", PATIENCE_MS);
        settings.put("request.timeout.ms", PATIENCE_MS);
        return settings;
    }

    /// Why each attempt was refused.
    private List<Throwable> refusals(Properties settings) throws Exception {
        settings.setProperty("bootstrap.servers", broker.bootstrapServers());
        var refusals = new ArrayList<>(refusals(settings, ATTEMPTS));
        for (int port : ports) {
            for (String kind : List.of("bootstrap.servers", "bootstrap.controllers")) {
                settings.remove("bootstrap.servers");
                settings.remove("bootstrap.controllers");
                settings.setProperty(kind, "127.0.0.1:" + port);
                refusals.addAll(refusals(settings, ATTEMPTS_AT_EITHER));
            }
        }
        return refusals;
    }

    private static List<Throwable> refusals(Properties settings, List<Attempt> attempts) throws Exception {
        var refusals = new ArrayList<Throwable>();
        try (Admin admin = Admin.create(settings)) {
            List<? extends KafkaFuture<?>> answers =
                    attempts.stream().map(each -> each.at(admin)).toList();
            for (KafkaFuture<?> answer : answers) {
                refusals.add(refused(answer));
            }
        }
        return refusals;
    }

    private static Throwable refused(KafkaFuture<?> answer) {
        Throwable why = assertThrows(ExecutionException.class, answer::get);
        while (why.getCause() != null) {
            why = why.getCause();
        }
        return why;
    }

    @Test
    void aWrongPasswordAndAnotherNameAreRefused() throws Exception {
        var refusals = new ArrayList<>(
                refusals(as(BrokerCredential.fresh(new SecureRandom()).clientSettings())));
        Properties other = as(broker.clients());
        other.compute("sasl.jaas.config", (_, login) -> String.valueOf(login).replace("\"blackbox\"", "\"root\""));
        refusals.addAll(refusals(other));
        refusals.forEach(each -> assertInstanceOf(SaslAuthenticationException.class, each));
    }

    @Test
    void anotherMechanismIsRefused() throws Exception {
        Properties plain = as(broker.clients());
        plain.compute(
                "sasl.jaas.config",
                (_, login) -> PlainLoginModule.class.getName()
                        + String.valueOf(login).substring(String.valueOf(login).indexOf(" required")));
        plain.setProperty("sasl.mechanism", "PLAIN");
        refusals(plain).forEach(each -> assertInstanceOf(UnsupportedSaslMechanismException.class, each));
    }

    /// What a Kafka that asks for nothing would answer: this one closes the connection.
    @Test
    void withoutACredentialNothingIsAnswered() throws Exception {
        var plain = new Properties();
        plain.setProperty("bootstrap.servers", broker.bootstrapServers());
        try (Admin admin = Admin.create(as(plain))) {
            assertInstanceOf(TimeoutException.class, refused(admin.listTopics().names()));
        }
        List<AbstractRequest> requests = List.of(
                MetadataRequest.Builder.allTopics().build(),
                new VoteRequest.Builder(VoteRequest.singletonRequest(
                                new TopicPartition("__cluster_metadata", 0), "any", 99, 2, 0, 0, false))
                        .build(),
                new UnregisterBrokerRequest(
                        new UnregisterBrokerRequestData().setBrokerId(1), ApiKeys.UNREGISTER_BROKER.latestVersion()));
        for (int port : ports) {
            for (AbstractRequest request : requests) {
                assertEquals(-1, firstOctetOfAnswer(port, request), () -> port + " answers " + request.apiKey());
            }
        }
    }

    private static int firstOctetOfAnswer(int port, AbstractRequest request) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(30_000);
            ByteBuffer octets =
                    request.serializeWithHeader(new RequestHeader(request.apiKey(), request.version(), "neighbour", 1));
            var framed = ByteBuffer.allocate(4 + octets.remaining());
            framed.putInt(octets.remaining()).put(octets);
            socket.getOutputStream().write(framed.array());
            try {
                return socket.getInputStream().read();
            } catch (SocketException e) {
                return -1; // reset
            }
        }
    }

    @Test
    void anUnauthenticatedMessageHasABound() throws Exception {
        for (int port : ports) {
            try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setSoTimeout(30_000);
                socket.getOutputStream()
                        .write(ByteBuffer.allocate(4).putInt(1 << 20).array());
                assertEquals(-1, socket.getInputStream().read(), "it waits for a message of a MiB");
            }
        }
    }

    /// It is there, and lets the credential's owner do everything.
    @Test
    void thereIsAnAuthorizer() throws Exception {
        try (Admin admin = Admin.create(broker.clients())) {
            assertTrue(admin.describeAcls(AclBindingFilter.ANY).values().get().isEmpty());
        }
    }

    @Test
    void eachStartHasItsOwnAndNoneIsWrittenDown() throws Exception {
        String one = broker.clients().getProperty("sasl.jaas.config");
        String password = one.substring(one.indexOf("password=\"") + 10).split("\"")[0];
        assertEquals(43, password.length(), "256 bits");
        try (EmbeddedBroker second = EmbeddedBroker.start(another, EmbeddedBroker.ANY_PORT)) {
            assertFalse(second.clients().toString().contains(password));
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                var text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
                assertFalse(text.contains(password), file::toString);
            }
        }
    }
}
