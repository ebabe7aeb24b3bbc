package blackbox.gateway;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/// A guest that writes frames of HTTP/2 by itself (RFC 9113 section 4), also those that no codec would.
final class RawHttp2 implements AutoCloseable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int PRIORITY = 2;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PUSH_PROMISE = 5;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;

    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;

    private static final int HEADER_BYTES = 9;

    private final SSLSocket socket;
    private boolean begun;

    /// A frame that came.
    record Frame(int type, int flags, int stream, byte[] payload) {

        /// Of RST_STREAM and GOAWAY.
        int code() {
            return ByteBuffer.wrap(payload).getInt(type == GOAWAY ? 4 : 0);
        }
    }

    /// Opens HTTP/2 with the first that is said.
    RawHttp2(SSLSocket socket) {
        this.socket = socket;
        Http2Peer.offer(socket, "h2");
    }

    static byte[] frame(int type, int flags, int stream, byte... payload) {
        return ByteBuffer.allocate(HEADER_BYTES + payload.length)
                .putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array();
    }

    /// A head in HPACK, each field as a literal that is not kept (RFC 7541 section 6.2.2).
    static byte[] head(String... namesAndValues) {
        var out = new ByteArrayOutputStream();
        for (int at = 0; at < namesAndValues.length; at += 2) {
            out.write(0);
            text(out, namesAndValues[at]);
            text(out, namesAndValues[at + 1]);
        }
        return out.toByteArray();
    }

    private static void text(ByteArrayOutputStream out, String text) {
        int length = text.length();
        if (length < 127) {
            out.write(length);
        } else {
            out.write(127);
            for (int left = length - 127; ; left >>= 7) {
                out.write(left > 127 ? left & 127 | 128 : left);
                if (left <= 127) {
                    break;
                }
            }
        }
        out.writeBytes(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    static byte[] get(String target) {
        return head(":method", "GET", ":scheme", "https", ":authority", Inspected.NAME, ":path", target);
    }

    /// @throws IOException if the gateway has ended the connection
    void say(byte[] octets) throws IOException {
        if (!begun) {
            begun = true;
            socket.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().write(frame(SETTINGS, 0, 0));
        }
        socket.getOutputStream().write(octets);
        socket.getOutputStream().flush();
    }

    /// Says so much of a flood as is taken; it may be ended before.
    void flood(byte[] octets) {
        try {
            say(octets);
        } catch (IOException _) {
            return; // which is what the test wants to see
        }
    }

    /// The next frame; null at the end.
    @Nullable
    Frame next() {
        try {
            InputStream in = socket.getInputStream();
            byte[] header = in.readNBytes(HEADER_BYTES);
            if (header.length < HEADER_BYTES) {
                return null;
            }
            ByteBuffer head = ByteBuffer.wrap(header);
            int length = head.getInt() >>> 8;
            return new Frame(header[3], header[4], head.getInt(5), in.readNBytes(length));
        } catch (IOException _) {
            return null; // reset
        }
    }

    /// The next of a type, whatever comes before.
    Frame await(int type) {
        for (Frame frame = next(); frame != null; frame = next()) {
            if (frame.type == type) {
                return frame;
            }
        }
        throw new AssertionError("it ended before a frame of type " + type);
    }

    /// Reads until the end.
    void awaitEnd() {
        Frame frame = next();
        while (frame != null) {
            frame = next();
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
