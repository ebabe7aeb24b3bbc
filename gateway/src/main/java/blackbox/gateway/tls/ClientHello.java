package blackbox.gateway.tls;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the first octets of a client are, read as TLS (RFC 8446 sections 4.1.2 and 5.1, RFC 6066 section 3). Strict,
/// since what is judged must be what any server reads: a hello that contradicts itself has no meaning here.
///
/// @param kind what is known so far
/// @param serverName as it was sent; null if there is none
/// @param encrypted whether the client says that another, encrypted hello has the name it wants, or pretends to
/// @param protocols that it offers to speak in TLS (ALPN, RFC 7301), in its order
public record ClientHello(Kind kind, @Nullable String serverName, boolean encrypted, List<String> protocols) {
    /// HTTP/1.1 and HTTP/2, as ALPN names them.
    public static final String HTTP_1_1 = "http/1.1";

    public static final String HTTP_2 = "h2";

    /// The longest hello that is waited for, with its records' headers.
    public static final int BYTES_MAX = 32 << 10;

    private static final int HANDSHAKE = 22;
    private static final int RECORD_TYPE_MIN = 20;
    private static final int RECORD_TYPE_MAX = 24;
    private static final int MAJOR_VERSION = 3;
    private static final int RECORD_HEADER_BYTES = 5;
    private static final int RECORD_BYTES_MAX = 16 << 10;
    private static final int CLIENT_HELLO = 1;
    private static final int MESSAGE_HEADER_BYTES = 4;
    private static final int RANDOM_BYTES = 32;
    private static final int SESSION_BYTES_MAX = 32;
    private static final int SERVER_NAME = 0;
    private static final int PROTOCOLS = 16;
    private static final int ENCRYPTED_CLIENT_HELLO = 0xfe0d;
    private static final int NAME_BYTES_MAX = 255;

    private static final ClientHello MORE = new ClientHello(Kind.MORE, null, false, List.of());
    private static final ClientHello OTHER = new ClientHello(Kind.OTHER, null, false, List.of());
    private static final ClientHello MALFORMED = new ClientHello(Kind.MALFORMED, null, false, List.of());

    /// How far it is.
    public enum Kind {
        /// The beginning of a hello.
        MORE,
        /// No TLS.
        OTHER,
        /// It begins like TLS, and is no hello that can be trusted to mean one thing.
        MALFORMED,
        WHOLE
    }

    public ClientHello {
        protocols = List.copyOf(protocols);
    }

    /// Whether it can only be served in HTTP/2, as most clients of gRPC.
    public boolean needsHttp2() {
        return protocols.contains(HTTP_2) && !protocols.contains(HTTP_1_1);
    }

    /// Reads octets.
    public static ClientHello read(byte[] octets) {
        return read(Unpooled.wrappedBuffer(octets));
    }

    /// Reads the readable octets, and leaves them where they are.
    public static ClientHello read(ByteBuf octets) {
        int length = octets.readableBytes();
        int at = octets.readerIndex();
        int type = length > 0 ? octets.getByte(at) : HANDSHAKE;
        if (type < RECORD_TYPE_MIN || type > RECORD_TYPE_MAX || length > 1 && octets.getByte(at + 1) != MAJOR_VERSION) {
            return OTHER;
        }
        if (type != HANDSHAKE) {
            return length > 1 ? MALFORMED : MORE; // some servers pass over an alert before the hello
        }
        ByteBuf message = Unpooled.buffer(Math.max(1, Math.min(length, BYTES_MAX)));
        for (int left = length; left >= RECORD_HEADER_BYTES; ) {
            int size = octets.getUnsignedShort(at + 3);
            if (octets.getByte(at) != HANDSHAKE
                    || octets.getByte(at + 1) != MAJOR_VERSION
                    || size == 0
                    || size > RECORD_BYTES_MAX) {
                return MALFORMED;
            }
            int there = Math.min(size, left - RECORD_HEADER_BYTES);
            message.writeBytes(octets, at + RECORD_HEADER_BYTES, there);
            ClientHello read = message(message.duplicate());
            if (read.kind != Kind.MORE) {
                return read;
            }
            at += RECORD_HEADER_BYTES + there;
            left -= RECORD_HEADER_BYTES + there;
            if (there < size) {
                break;
            }
        }
        return length >= BYTES_MAX ? MALFORMED : MORE;
    }

    private static ClientHello message(ByteBuf in) {
        if (in.isReadable() && in.getByte(0) != CLIENT_HELLO) {
            return MALFORMED;
        }
        if (in.readableBytes() < MESSAGE_HEADER_BYTES) {
            return MORE;
        }
        int size = in.skipBytes(1).readUnsignedMedium();
        if (size > BYTES_MAX) {
            return MALFORMED;
        }
        if (in.readableBytes() < size) {
            return MORE;
        }
        if (in.readableBytes() > size) {
            return MALFORMED; // a client waits for an answer to its hello
        }
        try {
            return hello(in);
        } catch (IndexOutOfBoundsException _) {
            return MALFORMED;
        }
    }

    private static ClientHello hello(ByteBuf in) {
        in.skipBytes(2 + RANDOM_BYTES);
        int session = in.readUnsignedByte();
        in.skipBytes(session);
        int suites = in.readUnsignedShort();
        in.skipBytes(suites);
        int compressions = in.readUnsignedByte();
        in.skipBytes(compressions);
        if (session > SESSION_BYTES_MAX || suites < 2 || suites % 2 != 0 || compressions == 0) {
            return MALFORMED;
        }
        if (!in.isReadable()) {
            return new ClientHello(Kind.WHOLE, null, false, List.of());
        }
        if (in.readUnsignedShort() != in.readableBytes()) {
            return MALFORMED;
        }
        String name = null;
        boolean encrypted = false;
        List<String> protocols = List.of();
        while (in.isReadable()) {
            int type = in.readUnsignedShort();
            ByteBuf extension = in.readSlice(in.readUnsignedShort());
            encrypted |= type == ENCRYPTED_CLIENT_HELLO;
            if (type == SERVER_NAME) {
                String found = name == null ? serverName(extension) : null;
                if (found == null) {
                    return MALFORMED;
                }
                name = found;
            }
            if (type == PROTOCOLS) {
                List<String> found = protocols.isEmpty() ? protocols(extension) : List.of();
                if (found.isEmpty()) {
                    return MALFORMED;
                }
                protocols = found;
            }
        }
        return new ClientHello(Kind.WHOLE, name, encrypted, protocols);
    }

    /// What an extension offers; nothing if it is no proper list.
    private static List<String> protocols(ByteBuf in) {
        if (in.readUnsignedShort() != in.readableBytes()) {
            return List.of();
        }
        var offered = new ArrayList<String>();
        while (in.isReadable()) {
            int length = in.readUnsignedByte();
            if (length == 0) {
                return List.of();
            }
            offered.add(in.readCharSequence(length, StandardCharsets.ISO_8859_1).toString());
        }
        return offered;
    }

    /// The only name of an extension; null if it does not have exactly one.
    private static @Nullable String serverName(ByteBuf in) {
        if (in.readUnsignedShort() != in.readableBytes() || in.readByte() != 0) {
            return null;
        }
        int length = in.readUnsignedShort();
        if (length == 0 || length > NAME_BYTES_MAX || length != in.readableBytes()) {
            return null;
        }
        String name = in.toString(StandardCharsets.ISO_8859_1);
        return name.chars().allMatch(c -> c > ' ' && c < 0x7f) ? name : null;
    }
}
