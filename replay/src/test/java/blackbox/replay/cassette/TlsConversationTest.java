package blackbox.replay.cassette;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.tls.RunAuthority;
import blackbox.replay.cassette.RecordedConnection.End;
import blackbox.replay.cassette.Recording.Turn;
import blackbox.replay.request.Difference;
import blackbox.replay.request.DrawnIds;
import blackbox.replay.request.RecordedWords;
import blackbox.schemas.event.Endpoint;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A guest that opens TLS with what plays the recording.
class TlsConversationTest {
    private static final Endpoint REMOTE = new Endpoint("10.0.2.2", 443);
    private static final String NAME = "api.example";
    private static final String REFUSED = "other.example";
    private static final byte[] ALERT = {21, 3, 3, 0, 2, 2, 49};
    private static final String REQUEST = "GET /a HTTP/1.1\r\nHost: api.example\r\n\r\n";
    private static final String ANSWER = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    private final RunAuthority authority = RunAuthority.create(Instant.now());
    private final Random random = new Random(1);

    /// What went over TLS, with both directions in one capture.
    private static final class Plaintext {
        private final TestCapture capture = new TestCapture();
        private int sent;
        private int received;

        void guest(int flags, byte[] octets) {
            var segment = new TcpSegment(40_000, 443, sent, received, flags, 65_535, 0, octets, 0);
            capture.add(1, segment.packet(Recording.GUEST, Recording.GATEWAY).frame(new byte[6], new byte[6]));
            sent = segment.end();
        }

        void remote(int flags, byte[] octets) {
            var segment = new TcpSegment(443, 40_000, received, sent, flags, 65_535, 0, octets, 0);
            capture.add(1, segment.packet(Recording.GATEWAY, Recording.GUEST).frame(new byte[6], new byte[6]));
            received = segment.end();
        }

        static TestCapture of(String request, byte[] answer) {
            var it = new Plaintext();
            it.guest(TcpSegment.SYN, new byte[0]);
            it.remote(TcpSegment.SYN | TcpSegment.ACK, new byte[0]);
            it.guest(TcpSegment.ACK, request.getBytes(StandardCharsets.US_ASCII));
            for (int at = 0; at < answer.length; at += 30_000) {
                it.remote(TcpSegment.ACK, Arrays.copyOfRange(answer, at, Math.min(answer.length, at + 30_000)));
            }
            it.remote(TcpSegment.ACK | TcpSegment.FIN, new byte[0]);
            return it.capture;
        }
    }

    /// One that trusts the authority, with a server name.
    private SSLEngine client(String version, String name) throws Exception {
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setCertificateEntry("gateway", authority.certificate());
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        SSLEngine engine = context.createSSLEngine(name, 443);
        engine.setUseClientMode(true);
        engine.setEnabledProtocols(new String[] {version});
        var parameters = engine.getSSLParameters();
        parameters.setServerNames(List.of(new SNIHostName(name)));
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
        return engine;
    }

    private static byte[] hello(SSLEngine client) throws SSLException {
        ByteBuffer out = ByteBuffer.allocate(client.getSession().getPacketBufferSize());
        client.wrap(ByteBuffer.allocate(0), out);
        return octets(out.flip());
    }

    private static byte[] octets(ByteBuffer from) {
        var octets = new byte[from.remaining()];
        from.get(octets);
        return octets;
    }

    private TlsConversation conversation(TestCapture plaintext, boolean http) throws Exception {
        var wire = new Recording(random);
        var serverHello = new Turn(false, new byte[] {22, 3, 3, 0, 1, 2});
        wire.connection(40_000, 443, List.of(new Turn(true, hello(client("TLSv1.3", NAME))), serverHello));
        wire.connection(
                40_001, 443, List.of(new Turn(true, hello(client("TLSv1.3", REFUSED))), new Turn(false, ALERT)));
        Cassette cassette = wire.cassette(plaintext);
        assertEquals(1, cassette.openedCount());
        TlsEndpoint tls = cassette.tls(REMOTE);
        assertNotNull(tls);
        HttpShelf shelf = HttpShelf.of(REMOTE, cassette.conversations(REMOTE), new DrawnIds(RecordedWords.NONE));
        assertEquals(http, shelf != null);
        var matcher = new ConnectionMatcher(cassette::conversations);
        return new TlsConversation(
                REMOTE, tls, authority, () -> shelf == null ? new Claim(matcher, REMOTE) : new HttpClaim(shelf));
    }

    /// The guest's side: says `text` once TLS is open, and hears until the end.
    private static final class Guest {
        private final SSLEngine engine;
        private final TlsConversation remote;
        private final byte[] text;
        private final ByteArrayOutputStream heard = new ByteArrayOutputStream();
        private final List<Miss> misses = new ArrayList<>();
        private ByteBuffer in = ByteBuffer.allocate(0);
        private long taken;
        private long keptMax;
        private boolean said;

        Guest(SSLEngine engine, TlsConversation remote, String text) {
            this.engine = engine;
            this.remote = remote;
            this.text = text.getBytes(StandardCharsets.US_ASCII);
        }

        void run() throws SSLException {
            for (int step = 0; step < 10_000 && misses.isEmpty(); step++) {
                HandshakeStatus status = engine.getHandshakeStatus();
                if (status == HandshakeStatus.NEED_TASK) {
                    engine.getDelegatedTask().run();
                } else if (status == HandshakeStatus.NEED_WRAP || status == HandshakeStatus.NOT_HANDSHAKING && !said) {
                    said |= status == HandshakeStatus.NOT_HANDSHAKING
                            && engine.getSession().isValid()
                            && step > 0;
                    say(said && status == HandshakeStatus.NOT_HANDSHAKING ? text : new byte[0]);
                } else if (!hear()) {
                    return;
                }
            }
        }

        private void say(byte[] octets) throws SSLException {
            ByteBuffer from = ByteBuffer.wrap(octets);
            do {
                ByteBuffer out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
                engine.wrap(from, out);
                byte[] sent = octets(out.flip());
                Miss miss = sent.length == 0 ? null : remote.take(sent);
                if (miss != null) {
                    misses.add(miss);
                    return;
                }
            } while (from.hasRemaining());
        }

        /// Takes some octets, and acknowledges them.
        private boolean hear() throws SSLException {
            long released = remote.released();
            keptMax = Math.max(keptMax, released - taken);
            ByteBuffer plain = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize());
            var result = engine.unwrap(in, plain);
            heard.writeBytes(octets(plain.flip()));
            if (result.bytesConsumed() > 0
                    || result.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING && in.hasRemaining()) {
                return true;
            }
            if (taken == released) {
                return false;
            }
            byte[] more = remote.read(taken, 1_460);
            taken += more.length;
            remote.acknowledge(taken);
            in = ByteBuffer.allocate(in.remaining() + more.length)
                    .put(in)
                    .put(more)
                    .flip();
            return true;
        }

        String heard() {
            return heard.toString(StandardCharsets.US_ASCII);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    void aRequestIsAnswered(String version) throws Exception {
        TlsConversation remote = conversation(Plaintext.of(REQUEST, bytes(ANSWER)), true);
        var guest = new Guest(client(version, NAME), remote, REQUEST);
        guest.run();
        assertEquals(List.of(), guest.misses);
        assertEquals(ANSWER, guest.heard());
        assertEquals(version, guest.engine.getSession().getProtocol());
        assertEquals(End.FIN, remote.end());
        assertTrue(guest.engine.isInboundDone(), "TLS was closed, too");
        assertTrue(remote.isWhole());
    }

    @Test
    void whatIsSaidAfterTheRecordedEndIsMissed() throws Exception {
        TlsConversation remote = conversation(Plaintext.of(REQUEST, bytes(ANSWER)), true);
        var guest = new Guest(client("TLSv1.3", NAME), remote, REQUEST);
        guest.run();
        assertEquals(End.FIN, remote.end());
        assertEquals(List.of(), guest.misses);
        guest.say(bytes("POST /leak HTTP/1.1\r\nHost: api.example\r\nContent-Length: 0\r\n\r\n"));
        assertEquals(1, guest.misses.size());
    }

    @Test
    void anotherRequestIsMissedWhereItDiffers() throws Exception {
        TlsConversation remote = conversation(Plaintext.of(REQUEST, bytes(ANSWER)), true);
        var guest = new Guest(client("TLSv1.3", NAME), remote, REQUEST.replace("/a", "/b"));
        guest.run();
        assertEquals(1, guest.misses.size());
        Difference difference = guest.misses.getFirst().difference();
        assertNotNull(difference);
        assertEquals(5, difference.at());
        assertEquals("", guest.heard());
    }

    @Test
    void whatIsNotHttpIsSaidAsItWas() throws Exception {
        var random16 = new byte[1 << 20];
        random.nextBytes(random16);
        random16[0] = 0;
        TlsConversation remote = conversation(Plaintext.of("\u0001\u0002", random16), false);
        var guest = new Guest(client("TLSv1.3", NAME), remote, "\u0001\u0002");
        guest.run();
        assertEquals(List.of(), guest.misses);
        assertArrayEquals(random16, guest.heard.toByteArray());
        assertTrue(guest.keptMax <= 320 << 10, "what nobody has taken is bounded: " + guest.keptMax);
        assertTrue(remote.isWhole());
    }

    @Test
    void whatIsCutIsNotWhole() throws Exception {
        TlsConversation remote = conversation(Plaintext.of("\u0001\u0002", new byte[] {0, 1}), false);
        var guest = new Guest(client("TLSv1.3", NAME), remote, "\u0001");
        guest.run();
        assertEquals(List.of(), guest.misses);
        assertFalse(remote.isWhole());
        assertNotNull(remote.finish(), "it ended too early");
    }

    @Test
    void namesAreAnsweredAsTheyWere() throws Exception {
        TlsConversation refused = conversation(Plaintext.of(REQUEST, bytes(ANSWER)), true);
        assertNull(refused.take(hello(client("TLSv1.3", REFUSED))));
        assertArrayEquals(ALERT, refused.read(0, 100));
        assertEquals(End.FIN, refused.end());
        TlsConversation unknown = conversation(Plaintext.of(REQUEST, bytes(ANSWER)), true);
        Miss miss = unknown.take(hello(client("TLSv1.3", "third.example")));
        assertNotNull(miss);
        assertTrue(miss.why().contains("third.example"), miss.why());
        TlsConversation plain = conversation(Plaintext.of(REQUEST, bytes(ANSWER)), true);
        assertNotNull(plain.take(bytes(REQUEST)), "no TLS");
    }

    @Test
    void aGuestThatDoesNotTrustGivesUpAsItDid() throws Exception {
        TlsConversation remote = conversation(Plaintext.of(REQUEST, bytes(ANSWER)), true);
        var context = SSLContext.getInstance("TLS");
        context.init(null, null, null);
        SSLEngine engine = context.createSSLEngine(NAME, 443);
        engine.setUseClientMode(true);
        var guest = new Guest(engine, remote, REQUEST);
        assertThrows(SSLException.class, guest::run);
        guest.say(new byte[0]); // an alert
        assertEquals(List.of(), guest.misses);
        assertTrue(remote.isWhole());
    }

    /// Who can speak nothing but HTTP/2 is told why it is not served; whoever is not said to have spoken it, is
    /// greeted.
    @Test
    void http2IsMissed() throws Exception {
        String preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        TlsConversation spoken = conversation(Plaintext.of(preface, new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0}), false);
        Miss miss = spoken.take(hello(offering("h2")));
        assertNotNull(miss);
        assertTrue(miss.why().startsWith("HTTP/2 was recorded"), miss.why());
        assertNull(conversation(Plaintext.of(preface, new byte[] {0}), false).take(hello(offering("h2", "http/1.1"))));
        TlsConversation other = conversation(Plaintext.of(REQUEST, bytes(ANSWER)), true);
        assertNull(other.take(hello(offering("h2"))));
    }

    private SSLEngine offering(String... protocols) throws Exception {
        SSLEngine client = client("TLSv1.3", NAME);
        var parameters = client.getSSLParameters();
        parameters.setApplicationProtocols(protocols);
        client.setSSLParameters(parameters);
        return client;
    }

    /// Whoever only greets has said nothing that can be compared.
    @Test
    void aHelloInPartIsNotWhole() throws Exception {
        TlsConversation remote = conversation(Plaintext.of(REQUEST, bytes(ANSWER)), true);
        assertTrue(remote.isWhole(), "nothing was said");
        assertNull(remote.take(Arrays.copyOf(hello(client("TLSv1.3", NAME)), 50)));
        assertFalse(remote.isWhole());
    }

    @Test
    void connectionsWithoutTlsAreNoticed() throws Exception {
        var wire = new Recording(random);
        byte[] hello = hello(client("TLSv1.3", NAME));
        var opens = new Turn(false, new byte[] {22, 3, 3, 0, 1, 2});
        wire.connection(40_000, 443, List.of(new Turn(true, hello), opens));
        wire.connection(40_001, 443, List.of(new Turn(true, hello), opens));
        assertTrue(endpoint(wire).onlyTls(), "one of them was given up");
        wire.connection(40_002, 443, List.of(new Turn(true, bytes(REQUEST)), new Turn(false, bytes(ANSWER))));
        assertFalse(endpoint(wire).onlyTls(), "one without TLS");
    }

    private static TlsEndpoint endpoint(Recording wire) throws IOException {
        TlsEndpoint tls = wire.cassette(Plaintext.of(REQUEST, bytes(ANSWER))).tls(REMOTE);
        assertNotNull(tls);
        return tls;
    }

    @Test
    void aCaptureThatIsNoneIsRefused() {
        var it = new Plaintext();
        it.remote(TcpSegment.ACK, new byte[] {1});
        assertThrows(IOException.class, () -> new Recording(random).cassette(it.capture));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
