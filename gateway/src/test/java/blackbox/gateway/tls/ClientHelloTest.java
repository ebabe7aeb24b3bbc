package blackbox.gateway.tls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.gateway.tls.ClientHello.Kind;
import blackbox.schemas.Seeded;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SNIServerName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.junit.jupiter.api.Test;

/// The hello of the JDK's client, whole, in parts and broken.
class ClientHelloTest {
    private static byte[] hello(String... names) throws Exception {
        SSLEngine engine = SSLContext.getDefault().createSSLEngine();
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setServerNames(Arrays.stream(names)
                .map(SNIHostName::new)
                .map(name -> (SNIServerName) name)
                .toList());
        engine.setSSLParameters(parameters);
        var out = ByteBuffer.allocate(32 << 10);
        engine.wrap(ByteBuffer.allocate(0), out);
        return Arrays.copyOf(out.array(), out.position());
    }

    private static ClientHello read(byte[] octets) {
        return ClientHello.read(Unpooled.wrappedBuffer(octets));
    }

    @Test
    void theNameIsFoundOnceAllIsThere() throws Exception {
        byte[] hello = hello("Some.example");
        for (int length = 0; length < hello.length; length++) {
            assertEquals(Kind.MORE, read(Arrays.copyOf(hello, length)).kind(), "of " + length);
        }
        assertEquals(new ClientHello(Kind.WHOLE, "Some.example", false, List.of()), read(hello));
        assertEquals(new ClientHello(Kind.WHOLE, null, false, List.of()), read(hello()));
    }

    /// A list of protocols in its extension, put into the hello's end.
    private static byte[] offering(byte[] list) throws Exception {
        byte[] hello = hello();
        var all = new ByteArrayOutputStream();
        all.write(hello);
        all.write(new byte[] {0, 16, 0, (byte) list.length});
        all.write(list);
        byte[] octets = all.toByteArray();
        int sessionAt = 5 + 4 + 2 + 32;
        int suitesAt = sessionAt + 1 + hello[sessionAt];
        int compressionsAt = suitesAt + 2 + u16(hello, suitesAt);
        int extensionsAt = compressionsAt + 1 + hello[compressionsAt];
        for (int at : new int[] {3, 7, extensionsAt}) { // record, message, extensions
            int length = u16(octets, at) + 4 + list.length;
            octets[at] = (byte) (length >> 8);
            octets[at + 1] = (byte) length;
        }
        return octets;
    }

    private static int u16(byte[] octets, int at) {
        return (octets[at] & 0xff) << 8 | octets[at + 1] & 0xff;
    }

    @Test
    void theProtocolsThatAreOffered() throws Exception {
        ClientHello both = read(offering(new byte[] {0, 12, 2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'}));
        assertEquals(List.of("h2", "http/1.1"), both.protocols());
        assertFalse(both.needsHttp2());
        ClientHello one = read(offering(new byte[] {0, 3, 2, 'h', '2'}));
        assertTrue(one.needsHttp2());
        assertFalse(read(hello()).needsHttp2());
        for (byte[] broken : List.of(
                new byte[] {0, 0},
                new byte[] {0, 1, 0},
                new byte[] {0, 3, 3, 'h', '2'},
                new byte[] {0, 4, 2, 'h', '2'},
                new byte[] {0, 3, 2, 'h', '2', 0, 16, 0, 5, 0, 3, 2, 'h', '3'})) {
            byte[] octets = offering(broken);
            assertEquals(Kind.MALFORMED, read(octets).kind(), Arrays.toString(broken));
        }
    }

    @Test
    void itMayBeSpreadOverRecords() throws Exception {
        byte[] hello = hello("a.example");
        byte[] message = Arrays.copyOfRange(hello, 5, hello.length);
        var out = ByteBuffer.allocate(64 << 10);
        for (int at = 0; at < message.length; at += 7) {
            int count = Math.min(7, message.length - at);
            out.put(new byte[] {22, 3, 1, 0, (byte) count}).put(message, at, count);
        }
        assertEquals(
                "a.example", read(Arrays.copyOf(out.array(), out.position())).serverName());
    }

    @Test
    void whatIsNoHello() {
        for (byte[] other : List.of(new byte[] {'G', 'E'}, new byte[] {22, 2}, new byte[] {0})) {
            assertEquals(Kind.OTHER, read(other).kind());
        }
        for (byte[] broken : List.of(
                new byte[] {22, 3, 1, 0, 0},
                new byte[] {21, 3, 1, 0, 2, 1, 90}, // an alert, which some servers pass over
                new byte[] {20, 3},
                new byte[] {22, 3, 1, 0x7f, 0},
                new byte[] {22, 3, 1, 0, 4, 2, 0, 0, 0},
                new byte[] {22, 3, 1, 0, 4, 1, 0, 0, 0},
                new byte[] {22, 3, 1, 0, 4, 1, 1, 0, 0, 21, 3, 1, 0, 1})) {
            assertEquals(Kind.MALFORMED, read(broken).kind(), Arrays.toString(broken));
        }
    }

    @Test
    void changedOctetsNeverThrow() throws Exception {
        RandomGenerator random = Seeded.random("hello");
        byte[] hello = hello("a.example");
        int malformed = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] changed = hello.clone();
            changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            ClientHello read = read(changed);
            malformed += read.kind() == Kind.MALFORMED ? 1 : 0;
        }
        assertTrue(malformed > 100, "only " + malformed + " refused");
    }
}
