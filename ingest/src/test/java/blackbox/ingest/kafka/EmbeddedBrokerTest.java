package blackbox.ingest.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.ingest.IngestException;
import blackbox.ingest.IngestException.Code;
import blackbox.ingest.Traffic;
import blackbox.ingest.kafka.BatchConsumer.Arrived;
import blackbox.recorder.publish.KafkaPublisher;
import blackbox.schemas.batch.SealedBatch;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class EmbeddedBrokerTest {

    @TempDir
    Path folder;

    private static void publish(KafkaPublisher publisher, List<SealedBatch> batches) throws Exception {
        var waiting = new CountDownLatch(batches.size());
        for (SealedBatch batch : batches) {
            publisher.publish(batch, waiting::countDown);
        }
        assertTrue(waiting.await(60, TimeUnit.SECONDS));
    }

    private static List<Arrived> read(Properties clients, Map<String, Long> offsets, int count) throws Exception {
        var arrived = new ArrayList<Arrived>();
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        try (var consumer = BatchConsumer.ofAll(clients, offsets)) {
            while (arrived.size() < count && System.nanoTime() < deadline) {
                arrived.addAll(consumer.poll(Duration.ofMillis(100)));
            }
        }
        return arrived;
    }

    @Test
    void whatItTookIsThereAfterARestart() throws Exception {
        // Kafka would split it at the comma.
        Path odd = folder.resolve("it's one, not \"two\"");
        var traffic = new Traffic(new Random(1));
        for (int i = 0; i < 6; i++) {
            traffic.batch(50);
        }
        try (EmbeddedBroker broker = EmbeddedBroker.start(odd, EmbeddedBroker.ANY_PORT)) {
            Properties clients = broker.clients();
            BatchConsumer.ofAll(clients, Map.of()).close();
            try (var publisher = new KafkaPublisher(clients)) {
                publish(publisher, traffic.batches());
            }
            assertNull(broker.failure());
        }
        try (EmbeddedBroker broker = EmbeddedBroker.start(odd, EmbeddedBroker.ANY_PORT)) {
            Properties clients = broker.clients();
            List<Arrived> all = read(clients, Map.of(), 6);
            for (int i = 0; i < 6; i++) {
                assertArrayEquals(traffic.batches().get(i).octets(), all.get(i).octets());
            }
            assertEquals(traffic.run().value(), all.getFirst().key());
            Arrived fourth = all.get(3);
            List<Arrived> rest = read(clients, Map.of(fourth.source(), fourth.offset()), 3);
            assertEquals(3, rest.size());
            assertEquals(fourth.offset(), rest.getFirst().offset());
            List<Arrived> again = read(clients, Map.of(fourth.source(), 1_000_000L), 6);
            assertEquals(6, again.size(), "offsets that the broker does not have lead to its first");
        }
    }

    @Test
    void aTakenPortAndATakenFolderAreSaid() throws Exception {
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            IngestException port =
                    assertThrows(IngestException.class, () -> EmbeddedBroker.start(folder, taken.getLocalPort()));
            assertEquals(Code.PORT_TAKEN, port.code());
        }
        try (EmbeddedBroker _ = EmbeddedBroker.start(folder, EmbeddedBroker.ANY_PORT)) {
            IngestException inUse =
                    assertThrows(IngestException.class, () -> EmbeddedBroker.start(folder, EmbeddedBroker.ANY_PORT));
            assertEquals(Code.IN_USE, inUse.code());
        }
    }

    /// As on a cluster, where the broker that is asked may not know yet what another one has created.
    @Test
    void aTopicThatIsNotShownYetIsWaitedFor() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder, EmbeddedBroker.ANY_PORT)) {
            Properties clients = broker.clients();
            var opening = new FutureTask<>(() -> BatchConsumer.ofAll(clients, "cluster", Map.of()));
            Thread reading = Thread.ofPlatform().start(opening);
            assertFalse(reading.join(Duration.ofSeconds(2)), "it waits for the topic");
            TopicAdmin.ensure(clients);
            var traffic = new Traffic(new Random(3));
            traffic.batch(10);
            try (var publisher = new KafkaPublisher(clients);
                    BatchConsumer consumer = opening.get()) {
                publish(publisher, traffic.batches());
                List<Arrived> arrived = List.of();
                for (int i = 0; i < 600 && arrived.isEmpty(); i++) {
                    arrived = consumer.poll(Duration.ofMillis(100));
                }
                assertArrayEquals(
                        traffic.batches().getFirst().octets(),
                        arrived.getFirst().octets());
            }
        }
    }

    @Test
    void oneDeadBrokerOfAListIsNoHindrance() throws Exception {
        int dead;
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            dead = free.getLocalPort();
        }
        var traffic = new Traffic(new Random(4));
        traffic.batch(10);
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder, EmbeddedBroker.ANY_PORT)) {
            Properties clients = broker.clients();
            clients.put("bootstrap.servers", "127.0.0.1:" + dead + "," + broker.bootstrapServers());
            TopicAdmin.ensure(clients);
            try (var publisher = new KafkaPublisher(clients)) {
                publish(publisher, traffic.batches());
            }
            assertEquals(1, read(clients, Map.of(), 1).size());
        }
    }

    @Test
    void thePublisherWaitsForABrokerThatIsAway() throws Exception {
        int port;
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        var traffic = new Traffic(new Random(2));
        traffic.batch(10);
        traffic.batch(10);
        BrokerCredential credential = BrokerCredential.fresh(new SecureRandom());
        Properties clients = credential.clientSettings();
        clients.put("bootstrap.servers", "127.0.0.1:" + port);
        var failure = new AtomicReference<Exception>();
        try (var publisher = new KafkaPublisher(clients)) {
            Thread publishing = Thread.ofPlatform().start(() -> {
                try {
                    publish(publisher, traffic.batches());
                } catch (Exception e) {
                    failure.set(e);
                }
            });
            for (int i = 0; i < 300 && publisher.trouble() == null; i++) {
                publishing.join(100);
            }
            String trouble = publisher.trouble();
            assertNotNull(trouble);
            assertTrue(trouble.contains("127.0.0.1:" + port), trouble);
            try (EmbeddedBroker _ = EmbeddedBroker.start(folder, port, credential)) {
                assertEquals(2, read(clients, Map.of(), 2).size());
                publishing.join();
            }
        }
        assertNull(failure.get());
    }
}
