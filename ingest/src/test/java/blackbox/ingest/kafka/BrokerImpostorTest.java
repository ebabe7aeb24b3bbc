package blackbox.ingest.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.ingest.Traffic;
import blackbox.recorder.RecorderException;
import blackbox.recorder.publish.KafkaPublisher;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.ApiVersionsResponseData.ApiVersion;
import org.apache.kafka.common.message.ApiVersionsResponseData.ApiVersionCollection;
import org.apache.kafka.common.message.SaslAuthenticateRequestData;
import org.apache.kafka.common.message.SaslAuthenticateResponseData;
import org.apache.kafka.common.message.SaslHandshakeResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.RequestUtils;
import org.junit.jupiter.api.Test;

/// Another user waits for a broker to end, and listens at its port: recorders that still connect there must not give
/// away their batches, and must not take them for acknowledged.
final class BrokerImpostorTest {

    private static final int ATTEMPTS_MAX = 60;

    /// Speaks Kafka's protocol as far as it can without the credential, and claims that everybody is welcome.
    private static final class Impostor implements AutoCloseable {

        private final ServerSocket listener = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        private final Set<ApiKeys> asked = ConcurrentHashMap.newKeySet();
        private final AtomicBoolean claimed = new AtomicBoolean();

        Impostor() throws IOException {
            Thread.ofPlatform().daemon().start(this::accept);
        }

        private void accept() {
            while (!listener.isClosed()) {
                try {
                    Socket client = listener.accept();
                    Thread.ofPlatform().daemon().start(() -> serve(client));
                } catch (IOException e) {
                    return; // closed
                }
            }
        }

        private void serve(Socket client) {
            try (client;
                    var in = new DataInputStream(client.getInputStream())) {
                while (true) {
                    var request = ByteBuffer.wrap(in.readNBytes(in.readInt()));
                    RequestHeader header = RequestHeader.parse(request);
                    asked.add(header.apiKey());
                    ApiMessage answer = switch (header.apiKey()) {
                        case API_VERSIONS -> versions();
                        case SASL_HANDSHAKE -> new SaslHandshakeResponseData().setMechanisms(List.of("SCRAM-SHA-256"));
                        case SASL_AUTHENTICATE ->
                            new SaslAuthenticateResponseData()
                                    .setAuthBytes(welcome(new SaslAuthenticateRequestData(
                                                    new ByteBufferAccessor(request), header.apiVersion())
                                            .authBytes()));
                        default -> throw new IOException("asked for " + header.apiKey());
                    };
                    ByteBuffer octets = RequestUtils.serialize(
                            header.toResponseHeader().data(),
                            header.toResponseHeader().headerVersion(),
                            answer,
                            header.apiVersion());
                    var framed = ByteBuffer.allocate(4 + octets.remaining());
                    framed.putInt(octets.remaining()).put(octets);
                    client.getOutputStream().write(framed.array());
                }
            } catch (IOException e) {
                // The client went away.
            }
        }

        private static ApiMessage versions() {
            var known = new ApiVersionCollection();
            for (ApiKeys each : ApiKeys.values()) {
                known.add(new ApiVersion()
                        .setApiKey(each.id)
                        .setMinVersion(each.oldestVersion())
                        .setMaxVersion(each.latestVersion()));
            }
            return new ApiVersionsResponseData().setApiKeys(known);
        }

        /// To the client's first message a salt of its own choosing; to the second, whatever it proves, a
        /// signature that it cannot compute (RFC 5802, section 3).
        private byte[] welcome(byte[] message) {
            String text = new String(message, StandardCharsets.US_ASCII);
            String answer;
            if (text.startsWith("n,")) {
                String nonce = text.substring(text.indexOf(",r=") + 3);
                answer = "r=" + nonce + "mine,s=" + Base64.getEncoder().encodeToString(new byte[16]) + ",i=4096";
            } else {
                claimed.set(true);
                answer = "v=" + Base64.getEncoder().encodeToString(new byte[32]);
            }
            return answer.getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public void close() {
            try {
                listener.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Test
    void whoDoesNotKnowTheCredentialIsNoBroker() throws Exception {
        var traffic = new Traffic(new Random(1));
        traffic.batch(10);
        var acknowledged = new AtomicBoolean();
        try (var impostor = new Impostor()) {
            Properties clients = BrokerCredential.fresh(new SecureRandom()).clientSettings();
            clients.put("bootstrap.servers", "127.0.0.1:" + impostor.listener.getLocalPort());
            try (var publisher = new KafkaPublisher(clients)) {
                assertThrows(RecorderException.class, () -> {
                    for (int i = 0; i < ATTEMPTS_MAX; i++) {
                        publisher.publish(traffic.batches().getFirst(), () -> acknowledged.set(true));
                    }
                });
                assertFalse(acknowledged.get());
            }
            assertTrue(impostor.claimed.get(), "it was asked for its signature");
            assertEquals(
                    EnumSet.of(ApiKeys.API_VERSIONS, ApiKeys.SASL_HANDSHAKE, ApiKeys.SASL_AUTHENTICATE),
                    EnumSet.copyOf(impostor.asked));
        }
    }
}
