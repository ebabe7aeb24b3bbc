package blackbox.replay.packets;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Writes pcapng (IETF draft-ietf-opsawg-pcapng, version 1.0), most significant octet first, times in
/// microseconds.
final class PcapngWriter {

    private static final int SECTION = 0x0a0d0d0a;
    private static final int ORDER = 0x1a2b3c4d;
    private static final int INTERFACE = 1;
    private static final int NAMES = 4;
    private static final int PACKET = 6;
    private static final int ETHERNET = 1;

    private static final int END = 0;
    private static final int COMMENT = 1;
    private static final int SECTION_APPLICATION = 4;
    private static final int INTERFACE_NAME = 2;
    private static final int INTERFACE_DESCRIPTION = 3;
    private static final int PACKET_FLAGS = 2;

    private static final int NAME_IPV4 = 1;
    private static final int NAME_IPV6 = 2;
    private static final int IPV4_BYTES = 4;

    /// An option's length has 16 bits.
    private static final int TEXT_BYTES_MAX = 65_532;

    private final OutputStream to;

    /// Which way a frame went, as the guest sees it.
    enum Direction {
        IN(1),
        OUT(2);

        private final int flags;

        Direction(int flags) {
            this.flags = flags;
        }
    }

    PcapngWriter(OutputStream to) {
        this.to = to;
    }

    /// Begins the file.
    void section(String application, String comment) throws IOException {
        var body = new Body();
        body.number(ORDER);
        body.half(1);
        body.half(0);
        body.wide(-1); // the section's length is not told
        body.text(COMMENT, comment);
        body.text(SECTION_APPLICATION, application);
        block(SECTION, body.ended());
    }

    /// Adds an interface; they are numbered from 0.
    void ethernet(String name, String description) throws IOException {
        var body = new Body();
        body.half(ETHERNET);
        body.half(0);
        body.number(0); // no limit
        body.text(INTERFACE_NAME, name);
        body.text(INTERFACE_DESCRIPTION, description);
        block(INTERFACE, body.ended());
    }

    /// Names addresses.
    ///
    /// @param names by the octets of addresses, 4 or 16 of them
    void names(Collection<? extends Map.Entry<byte[], String>> names) throws IOException {
        var body = new Body();
        for (Map.Entry<byte[], String> each : names) {
            byte[] address = each.getKey();
            byte[] name = (each.getValue() + '\0').getBytes(StandardCharsets.UTF_8);
            body.half(address.length == IPV4_BYTES ? NAME_IPV4 : NAME_IPV6);
            body.half(address.length + name.length);
            body.octets(address);
            body.octets(name);
            body.pad();
        }
        body.number(END);
        block(NAMES, body.octets.toByteArray());
    }

    /// Adds a frame.
    void frame(int number, long micros, Direction direction, byte[] frame, @Nullable String comment)
            throws IOException {
        var body = new Body();
        body.number(number);
        body.wide(micros);
        body.number(frame.length);
        body.number(frame.length);
        body.octets(frame);
        body.pad();
        if (comment != null) {
            body.text(COMMENT, comment);
        }
        body.half(PACKET_FLAGS);
        body.half(Integer.BYTES);
        body.number(direction.flags);
        block(PACKET, body.ended());
    }

    private void block(int type, byte[] body) throws IOException {
        int length = body.length + 3 * Integer.BYTES;
        var head = new Body();
        head.number(type);
        head.number(length);
        to.write(head.octets.toByteArray());
        to.write(body);
        var tail = new Body();
        tail.number(length);
        to.write(tail.octets.toByteArray());
    }

    /// What is between a block's two lengths.
    private static final class Body {
        final ByteArrayOutputStream octets = new ByteArrayOutputStream();
        private final DataOutputStream out = new DataOutputStream(octets);

        void number(int value) throws IOException {
            out.writeInt(value);
        }

        void half(int value) throws IOException {
            out.writeShort(value);
        }

        void wide(long value) throws IOException {
            out.writeLong(value);
        }

        void octets(byte[] value) throws IOException {
            out.write(value);
        }

        void pad() throws IOException {
            while (octets.size() % Integer.BYTES != 0) {
                out.write(0);
            }
        }

        void text(int option, String text) throws IOException {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            int length = Math.min(utf8.length, TEXT_BYTES_MAX);
            while (length < utf8.length && (utf8[length] & 0xc0) == 0x80) {
                length--; // not within a character
            }
            half(option);
            half(length);
            out.write(utf8, 0, length);
            pad();
        }

        /// The body, ended by the option that ends options.
        byte[] ended() throws IOException {
            number(END);
            return octets.toByteArray();
        }
    }
}
