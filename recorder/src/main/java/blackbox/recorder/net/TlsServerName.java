package blackbox.recorder.net;

import blackbox.schemas.net.Octets;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Finds the server name (RFC 6066, section 3) in the first octets that a TLS client sends.
final class TlsServerName {

    /// The longest ClientHello to wait for.
    static final int HELLO_BYTES_MAX = 8_192;

    private TlsServerName() {}

    /// Whether more octets could still make `octets` a ClientHello, and are worth waiting for.
    static boolean wantsMore(byte[] octets, int length) {
        return length < HELLO_BYTES_MAX && !isDecided(octets, length);
    }

    /// Whether more octets would change nothing: the first record is whole, or they are not the beginning of a
    /// ClientHello.
    static boolean isDecided(byte[] octets, int length) {
        return length > 0 && (octets[0] != 22 || length >= 5 && length >= 5 + Octets.u16(octets, 3));
    }

    /// The server name, or null if there is none.
    static @Nullable String find(byte[] octets, int length) {
        ByteBuffer in = ByteBuffer.wrap(octets, 0, length);
        try {
            if (in.get() != 22) {
                return null;
            }
            in.position(5);
            if (in.get() != 1) {
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
}
