package blackbox.calls.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/// Divides an `application/vnd.amazon.eventstream` (Smithy's Amazon Event Stream Specification) into its messages. A
/// message is passed on only after its checksum was found right.
public final class AwsEventStream {
    /// The longest message that is read; longer ones are left off and counted. The specification allows 16 MiB.
    public static final int MESSAGE_BYTES_MAX = 1 << 20;

    private static final int PRELUDE_BYTES = 12;
    private static final int CRC_BYTES = 4;

    /// Takes the messages.
    @FunctionalInterface
    public interface Sink {
        /// @param headers those that are strings
        /// @param payload valid only during the call
        /// @param endOffset how many octets there were when the message had ended
        void message(Map<String, String> headers, ByteBuffer payload, long endOffset);
    }

    private final Sink sink;
    private byte[] buffer = new byte[4096];
    private int filled;
    private int total;
    private long offset;
    private long leftOff;
    private @Nullable String failure;

    public AwsEventStream(Sink sink) {
        this.sink = sink;
    }

    /// More of the stream. After a failure it is ignored, as nobody knows where the next message begins.
    public void feed(byte[] octets, int from, int to) {
        int at = from;
        while (at < to && failure == null) {
            int wanted = (total == 0 ? PRELUDE_BYTES : total) - filled;
            int count = Math.min(wanted, to - at);
            keep(octets, at, count);
            filled += count;
            offset += count;
            at += count;
            if (count == wanted) {
                if (total == 0) {
                    prelude();
                } else {
                    message();
                }
            }
        }
    }

    /// How many messages were too long.
    public long leftOff() {
        return leftOff;
    }

    /// Why the rest was not read; null if nothing is wrong so far.
    public @Nullable String failure() {
        return failure;
    }

    /// Whether a message has begun and not ended.
    public boolean inMessage() {
        return filled > 0;
    }

    private void keep(byte[] octets, int from, int count) {
        if (total > MESSAGE_BYTES_MAX) {
            return;
        }
        if (filled + count > buffer.length) {
            buffer = Arrays.copyOf(buffer, Math.clamp(2L * (filled + count), 4096, MESSAGE_BYTES_MAX));
        }
        System.arraycopy(octets, from, buffer, filled, count);
    }

    private void prelude() {
        ByteBuffer prelude = ByteBuffer.wrap(buffer, 0, PRELUDE_BYTES);
        int length = prelude.getInt();
        int headersLength = prelude.getInt();
        if (prelude.getInt() != crc(8)) {
            failure = "the checksum of a message's prelude is wrong";
        } else if (length < PRELUDE_BYTES + CRC_BYTES
                || headersLength < 0
                || headersLength > length - PRELUDE_BYTES - CRC_BYTES) {
            failure = "the lengths of a message contradict each other";
        }
        total = length;
    }

    private void message() {
        if (total > MESSAGE_BYTES_MAX) {
            leftOff++;
        } else if (ByteBuffer.wrap(buffer).getInt(total - CRC_BYTES) != crc(total - CRC_BYTES)) {
            failure = "the checksum of a message is wrong";
        } else {
            int headersLength = ByteBuffer.wrap(buffer).getInt(4);
            Map<String, String> headers = headers(ByteBuffer.wrap(buffer, PRELUDE_BYTES, headersLength));
            if (headers == null) {
                failure = "the headers of a message are not valid";
            } else {
                int payload = PRELUDE_BYTES + headersLength;
                sink.message(headers, ByteBuffer.wrap(buffer, payload, total - CRC_BYTES - payload), offset);
            }
        }
        filled = 0;
        total = 0;
    }

    private int crc(int length) {
        var crc = new CRC32();
        crc.update(buffer, 0, length);
        return (int) crc.getValue();
    }

    /// The headers that are strings; null if they are not valid.
    private static @Nullable Map<String, String> headers(ByteBuffer octets) {
        Map<String, String> headers = new HashMap<>();
        while (octets.hasRemaining()) {
            String name = string(octets, octets.get() & 0xff);
            if (name == null || !octets.hasRemaining()) {
                return null;
            }
            byte type = octets.get();
            int length = switch (type) {
                case 0, 1 -> 0;
                case 2 -> 1;
                case 3 -> 2;
                case 4 -> 4;
                case 5, 8 -> 8;
                case 6, 7 -> octets.remaining() < 2 ? -1 : octets.getShort() & 0xffff;
                case 9 -> 16;
                default -> -1;
            };
            String value = string(octets, length);
            if (value == null) {
                return null;
            }
            if (type == 7) {
                headers.put(name, value);
            }
        }
        return headers;
    }

    private static @Nullable String string(ByteBuffer octets, int length) {
        if (length < 0 || length > octets.remaining()) {
            return null;
        }
        String text =
                new String(octets.array(), octets.arrayOffset() + octets.position(), length, StandardCharsets.UTF_8);
        octets.position(octets.position() + length);
        return text;
    }
}
