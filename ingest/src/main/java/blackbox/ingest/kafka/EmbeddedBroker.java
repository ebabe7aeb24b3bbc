package blackbox.ingest.kafka;

import blackbox.files.ProcessLock;
import blackbox.ingest.IngestException;
import blackbox.ingest.IngestException.Code;
import blackbox.schemas.batch.BatchTopic;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;
import org.jspecify.annotations.Nullable;

/// A running broker on the loopback address. Its log outlives it: starting again on the same folder resumes.
///
/// It and its controller let in only who has its [BrokerCredential], which each start makes anew: every user of the
/// machine can connect to a port.
///
/// Kafka ends the process when its log folder fails, for instance on a full disk. Here that becomes
/// [#failure], because the recorder in the same process must continue spooling.
public final class EmbeddedBroker implements AutoCloseable {

    /// Let the system choose a free port.
    public static final int ANY_PORT = 0;

    private static final int NODE_ID = 1;
    private static final int CONNECTIONS_MAX = 500;
    private static final int SEGMENT_BYTES = 64 << 20;
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(30);
    private static final String LOOPBACK = "127.0.0.1";
    private static final String BROKER = "BROKER";
    private static final String CONTROLLER = "CONTROLLER";

    /// Why the broker of this process died, if it did; a process has at most one at a time.
    private static final AtomicReference<@Nullable String> HALTED = new AtomicReference<>();

    private final KafkaRaftServer server;
    private final int port;
    private final BrokerCredential credential;
    private final ProcessLock lock;

    private EmbeddedBroker(KafkaRaftServer server, int port, BrokerCredential credential, ProcessLock lock) {
        this.server = server;
        this.port = port;
        this.credential = credential;
        this.lock = lock;
    }

    /// Starts a broker whose log is in `folder`, which is created if missing. Returns once it accepts
    /// requests.
    ///
    /// @param port where to listen on the loopback address, or [#ANY_PORT]
    /// @throws IngestException `PORT_TAKEN`, `IN_USE`, `DISK_FULL` or `BROKER`
    public static EmbeddedBroker start(Path folder, int port) throws IngestException {
        return start(folder, port, BrokerCredential.fresh(new SecureRandom()));
    }

    /// The same where clients have been given the credential already.
    public static EmbeddedBroker start(Path folder, int port, BrokerCredential credential) throws IngestException {
        Path log = folder.toAbsolutePath().normalize();
        int brokerPort = port == ANY_PORT ? freePort() : requireFree(port);
        int controllerPort = freePort();
        ProcessLock lock = lock(log);
        HALTED.set(null);
        Exit.setHaltProcedure(EmbeddedBroker::halted);
        Exit.setExitProcedure(EmbeddedBroker::halted);
        try {
            format(log);
            var config = new KafkaConfig(properties(log, brokerPort, controllerPort, credential), false);
            var server = new KafkaRaftServer(config, Time.SYSTEM);
            start(server, log);
            return new EmbeddedBroker(server, brokerPort, credential, lock);
        } catch (IOException e) {
            release(lock);
            throw IngestException.ofIo("cannot start the embedded broker in " + log, e);
        } catch (RuntimeException | HaltedError e) {
            release(lock);
            throw startFailure(log, e);
        } catch (IngestException e) {
            release(lock);
            throw e;
        }
    }

    /// Locks the folder. Kafka's own lock is taken only after its metadata log was opened, and may be written
    /// to.
    private static ProcessLock lock(Path log) throws IngestException {
        try {
            Files.createDirectories(log);
            ProcessLock lock = ProcessLock.tryTake(log.resolve("blackbox.lock"));
            if (lock != null) {
                return lock;
            }
        } catch (IOException e) {
            throw IngestException.ofIo("cannot lock the embedded broker's folder " + log, e);
        }
        throw new IngestException(
                Code.IN_USE,
                "another process runs the embedded broker in " + log + "; use that one, or another --data");
    }

    private static void release(ProcessLock lock) {
        try {
            lock.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot release the embedded broker's lock", e);
        }
    }

    private static void start(KafkaRaftServer server, Path log) throws IngestException {
        try {
            server.startup();
        } catch (RuntimeException | HaltedError e) {
            try {
                server.shutdown();
            } catch (RuntimeException | HaltedError further) {
                e.addSuppressed(further);
            }
            throw startFailure(log, e);
        }
    }

    private static IngestException startFailure(Path log, Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof IOException io) {
                return IngestException.ofIo("cannot start the embedded broker in " + log, io);
            }
        }
        return new IngestException(Code.BROKER, "cannot start the embedded broker in " + log, e);
    }

    private static void halted(int status, @Nullable String message) {
        HALTED.compareAndSet(null, message == null ? "status " + status : message);
        throw new HaltedError(message);
    }

    /// Ends the thread in which Kafka wanted to end the process.
    private static final class HaltedError extends Error {

        private static final long serialVersionUID = 1L;

        HaltedError(@Nullable String message) {
            super(message);
        }
    }

    private static int freePort() throws IngestException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new IngestException(Code.BROKER, "no free port on " + LOOPBACK + " for the embedded broker", e);
        }
    }

    private static int requireFree(int port) throws IngestException {
        try (var socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return port;
        } catch (IOException e) {
            throw new IngestException(
                    Code.PORT_TAKEN,
                    "port " + port + " on " + LOOPBACK + " is taken; choose another for the broker",
                    e);
        }
    }

    private static void format(Path log) throws IOException {
        if (Files.exists(log.resolve("meta.properties"))) {
            return;
        }
        var formatter = new Formatter()
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .setClusterId(Uuid.randomUuid().toString())
                .setNodeId(NODE_ID)
                .setControllerListenerName(CONTROLLER)
                .setReleaseVersion(MetadataVersion.latestProduction())
                .setMetadataLogDirectory(log.toString())
                .addDirectory(log.toString());
        try {
            formatter.run();
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("cannot format " + log, e);
        }
    }

    private static Map<String, Object> properties(Path log, int port, int controllerPort, BrokerCredential credential) {
        var properties = new HashMap<>(credential.brokerSettings(List.of(BROKER, CONTROLLER)));
        properties.put("process.roles", "broker,controller");
        properties.put("node.id", Integer.toString(NODE_ID));
        properties.put("controller.quorum.voters", NODE_ID + "@" + LOOPBACK + ":" + controllerPort);
        properties.put(
                "listeners",
                BROKER + "://" + LOOPBACK + ":" + port + "," + CONTROLLER + "://" + LOOPBACK + ":" + controllerPort);
        properties.put("advertised.listeners", BROKER + "://" + LOOPBACK + ":" + port);
        properties.put("listener.security.protocol.map", BROKER + ":SASL_PLAINTEXT," + CONTROLLER + ":SASL_PLAINTEXT");
        properties.put("inter.broker.listener.name", BROKER);
        properties.put("controller.listener.names", CONTROLLER);
        // A list, because Kafka splits a text at commas, and a path may contain some.
        properties.put("log.dirs", List.of(log.toString()));
        putLimits(properties);
        return properties;
    }

    private static void putLimits(Map<String, Object> properties) {
        properties.put("auto.create.topics.enable", "false");
        // Others can connect, though no more: they must not take all of this process's descriptors.
        properties.put("max.connections.per.ip", Integer.toString(CONNECTIONS_MAX));
        properties.put("message.max.bytes", Integer.toString(BatchTopic.RECORD_BYTES_MAX));
        properties.put("log.segment.bytes", Integer.toString(SEGMENT_BYTES));
        properties.put("log.retention.ms", "-1");
        // Acknowledged means on the disk: the recorder's spool drops what the broker has.
        properties.put("log.flush.interval.messages", "1");
        for (String topic : new String[] {"offsets.topic", "transaction.state.log", "share.coordinator.state.topic"}) {
            properties.put(topic + ".replication.factor", "1");
            properties.put(topic + ".num.partitions", "1");
        }
        properties.put("transaction.state.log.min.isr", "1");
        properties.put("share.coordinator.state.topic.min.isr", "1");
        properties.put("log.cleaner.enable", "false");
        properties.put("num.network.threads", "2");
        properties.put("num.io.threads", "2");
        properties.put("background.threads", "2");
        properties.put("num.recovery.threads.per.data.dir", "1");
        properties.put("initial.broker.registration.timeout.ms", "60000");
        // A broker that did not sign off counts as alive until its session ends, and its next start waits for
        // that: no other broker could take over here, so a session need not be as long as Kafka's 9 s.
        properties.put("controlled.shutdown.enable", "true");
        properties.put("broker.session.timeout.ms", "3000");
        properties.put("broker.heartbeat.interval.ms", "500");
    }

    /// Where clients connect, `127.0.0.1:<port>`.
    public String bootstrapServers() {
        return LOOPBACK + ":" + port;
    }

    /// The settings with which Kafka's clients get in: the address, and the credential in plain text.
    public Properties clients() {
        Properties clients = credential.clientSettings();
        clients.setProperty(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers());
        return clients;
    }

    /// Why the broker has died on its own, or null while it has not.
    public @Nullable String failure() {
        return HALTED.get();
    }

    /// Stops the broker; its log stays. If Kafka does not end, it is abandoned: what it acknowledged is on
    /// the disk, and the next start recovers.
    @Override
    public void close() {
        Thread stopping = Thread.ofPlatform().name("broker-stop").daemon().start(this::stop);
        try {
            if (stopping.join(STOP_PATIENCE)) {
                release(lock);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void stop() {
        server.shutdown();
        server.awaitShutdown();
    }
}
