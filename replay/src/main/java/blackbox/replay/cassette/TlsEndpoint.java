package blackbox.replay.cassette;

import blackbox.gateway.tls.ClientHello;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// An endpoint to which TLS was opened in the recorded run, so that what was said in it is known.
///
/// @param opened what the connections carried in TLS, in their order
/// @param greetings what came of the first octets of a client, by the server name that it asked for; empty for none
/// @param onlyTls whether every connection to it on which something was said began with a client's hello
/// @param http2 whether HTTP/2 was spoken on one of them
record TlsEndpoint(List<RecordedConnection> opened, Map<String, Greeting> greetings, boolean onlyTls, boolean http2) {
    /// What a client of HTTP/2 begins with (RFC 9113 section 3.4).
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private static final int HANDSHAKE = 22;
    private static final int GREETING_BYTES_MAX = 64;

    /// What a client was answered.
    ///
    /// @param opens whether TLS began
    /// @param refusal what it was sent if not, which may be nothing
    record Greeting(boolean opens, byte[] refusal) {}

    /// @param opened in their order
    /// @param onWire the same connections, and those on which TLS was refused, as they were on the wire
    static TlsEndpoint of(List<RecordedConnection> opened, List<RecordedConnection> onWire) {
        var greetings = new HashMap<String, Greeting>();
        boolean onlyTls = true;
        for (RecordedConnection each : onWire) {
            if (each.request().length() == 0 && each.response().length() == 0) {
                continue; // nothing was said
            }
            ClientHello hello = ClientHello.read(read(each.request().whole(), ClientHello.BYTES_MAX));
            onlyTls &= hello.kind() == ClientHello.Kind.WHOLE;
            if (hello.kind() == ClientHello.Kind.WHOLE) {
                byte[] answer = read(each.response().whole(), GREETING_BYTES_MAX);
                boolean opens = answer.length > 0 && answer[0] == HANDSHAKE;
                greetings.merge(
                        name(hello),
                        new Greeting(opens, opens ? new byte[0] : answer),
                        (first, next) -> first.opens() ? first : next);
            }
        }
        boolean http2 = opened.stream()
                .anyMatch(each -> Arrays.equals(PREFACE, read(each.request().whole(), PREFACE.length)));
        return new TlsEndpoint(List.copyOf(opened), Map.copyOf(greetings), onlyTls, http2);
    }

    /// What a client with this hello is answered; null if none was recorded.
    @Nullable
    Greeting greeting(ClientHello hello) {
        return greetings.get(name(hello));
    }

    private static String name(ClientHello hello) {
        String name = hello.serverName();
        return name == null ? "" : name;
    }

    private static byte[] read(StreamSlice from, int most) {
        var octets = new byte[(int) Math.min(most, from.length())];
        for (int at = 0; at < octets.length; ) {
            byte[] part = from.read(at, octets.length - at);
            System.arraycopy(part, 0, octets, at, part.length);
            at += part.length;
        }
        return octets;
    }
}
