package blackbox.gateway.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;

/// The keys of one WebSocket's opening handshake (RFC 6455 section 4): the guest's, and the gateway's own, which the
/// other side is sent in its place. Only a server that has read that one can answer it. So a server that says whatever
/// its client asks it to say cannot be made to open a connection on which nothing more is judged.
///
/// @param guest as the guest sent it
/// @param own what the other side is sent
record WebSocketKeys(String guest, String own) {
    static final String KEY = "Sec-WebSocket-Key";
    private static final String ACCEPT = "Sec-WebSocket-Accept";
    private static final String VERSION = "Sec-WebSocket-Version";
    private static final String WEB_SOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    private static final int KEY_BYTES = 16;
    private static final SecureRandom RANDOM = new SecureRandom();

    /// Those for a request that asks for a WebSocket.
    static WebSocketKeys of(Fields request) throws HttpFault {
        List<String> keys = request.values(KEY);
        if (keys.size() != 1 || !isKey(keys.getFirst())) {
            throw HttpFault.bad("it asks for a WebSocket without exactly one " + KEY + " of 16 octets in Base64");
        }
        if (!request.values(VERSION).equals(List.of("13"))) {
            throw HttpFault.bad("it asks for a WebSocket of another version than 13");
        }
        var own = new byte[KEY_BYTES];
        RANDOM.nextBytes(own);
        return new WebSocketKeys(keys.getFirst(), Base64.getEncoder().encodeToString(own));
    }

    private static boolean isKey(String text) {
        try {
            return Base64.getDecoder().decode(text).length == KEY_BYTES && text.endsWith("==");
        } catch (IllegalArgumentException _) {
            return false;
        }
    }

    /// What the guest is sent of the answer that opens it.
    ///
    /// @throws HttpFault if it does not answer the key that was sent
    UpstreamAnswer accepted(UpstreamAnswer answer) throws HttpFault {
        if (!answer.fields().values(ACCEPT).equals(List.of(accept(own)))) {
            throw HttpFault.bad("it says that it opens a WebSocket, and its " + ACCEPT + " is not that of the key");
        }
        return new UpstreamAnswer(
                answer.status(),
                answer.reason(),
                answer.fields().with(ACCEPT, accept(guest)),
                answer.framing(),
                answer.last());
    }

    /// What answers a key.
    static String accept(String key) {
        try {
            byte[] octets = (key + WEB_SOCKET).getBytes(StandardCharsets.ISO_8859_1);
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-1").digest(octets));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-1", e);
        }
    }
}
