package blackbox.recorder.net;

import blackbox.schemas.net.Octets;
import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Finds the server name (RFC 6066, section 3) in the first octets that a TLS client sends.
final class TlsServerName {

    /// The longest ClientHello to wait for.
    static final int HELLO_BYTES_MAX = 8_192;

    /// The type of a record (RFC 8446, section 5.1).
    private static final byte HANDSHAKE = 22;

    private static final int RECORD_HEADER_BYTES = 5;
    /// The type of a handshake message, whose header has its length behind that (section 4).
    private static final byte CLIENT_HELLO = 1;

    private static final int HEADER_BYTES = 4;

    private TlsServerName() {}

    /// Whether more octets could still make `octets` a ClientHello, and are worth waiting for.
    static boolean wantsMore(byte[] octets, int length) {
        return length < HELLO_BYTES_MAX && !isDecided(octets, length);
    }

    /// Whether more octets would change nothing: the ClientHello is whole, or they are not the beginning of
    /// one.
    static boolean isDecided(byte[] octets, int length) {
        Handshake begun = Handshake.of(octets, length);
        byte[] message = begun.message();
        return begun.ended()
                || message.length > 0 && message[0] != CLIENT_HELLO
                || message.length >= HEADER_BYTES
                        && message.length - HEADER_BYTES >= (Octets.u32(message, 0) & 0xffffff);
    }

    /// The server name, or null if there is none.
    static @Nullable String find(byte[] octets, int length) {
        ByteBuffer in = ByteBuffer.wrap(Handshake.of(octets, length).message());
        try {
            if (in.get() != CLIENT_HELLO) {
                return null;
            }
            in.position(in.position() + 3 + 2 + 32);
            skip(in, in.get() & 0xff);
            skip(in, in.getShort() & 0xffff);
            skip(in, in.get() & 0xff);
            int end = Math.min(in.limit(), in.position() + 2 + (in.getShort(in.position()) & 0xffff));
            in.getShort();
            while (in.position() < end) {
                int type = in.getShort() & 0xffff;
                int size = in.getShort() & 0xffff;
                if (type == 0) {
                    return hostName(in);
                }
                skip(in, size);
            }
            return null;
        } catch (BufferUnderflowException | IllegalArgumentException | IndexOutOfBoundsException e) {
            return null;
        }
    }

    private static @Nullable String hostName(ByteBuffer in) {
        in.getShort();
        if (in.get() != 0) {
            return null;
        }
        var name = new byte[Math.min(in.getShort() & 0xffff, 255)];
        in.get(name);
        String text = new String(name, StandardCharsets.ISO_8859_1);
        boolean plain = !text.isEmpty() && text.chars().allMatch(c -> c > ' ' && c < 127);
        return plain ? text.toLowerCase(Locale.ROOT) : null;
    }

    private static void skip(ByteBuffer in, int count) {
        in.position(in.position() + count);
    }

    /// What a client has sent of its first handshake messages. A message may be spread over any number of
    /// records (RFC 8446, section 5.1).
    ///
    /// @param message its octets without the records' headers, as far as they are there
    /// @param ended whether something else than a handshake's record followed
    private record Handshake(byte[] message, boolean ended) {
        static Handshake of(byte[] octets, int length) {
            var message = new ByteArrayOutputStream();
            int at = 0;
            while (at < length && octets[at] == HANDSHAKE) {
                if (length - at < RECORD_HEADER_BYTES) {
                    return new Handshake(message.toByteArray(), false);
                }
                int from = at + RECORD_HEADER_BYTES;
                at = from + Octets.u16(octets, from - 2);
                message.write(octets, from, Math.min(at, length) - from);
            }
            return new Handshake(message.toByteArray(), at < length);
        }
    }
}
