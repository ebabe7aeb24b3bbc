package blackbox.recorder.capture;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/// A piece of what an agent printed, as the host received it. Its form in a file, here written and read, is
/// that of `schemas/capture.md`: after a line for the version, each piece has a header of its time (64 bits),
/// its number (64) and its length (32), most significant octet first, and then its octets.
public final class OutputPiece {

    /// What each file begins with.
    public static final String VERSION_LINE = "blackbox-output-v1\n";

    /// The longest piece.
    public static final int BYTES_MAX = 256 << 10;

    /// What a piece takes in its file besides its octets.
    public static final int HEADER_BYTES = 2 * Long.BYTES + Integer.BYTES;

    private final PrintedStream stream;
    private final long atNs;
    private final long number;
    private final byte[] octets;

    /// @param octets not to be changed by anyone anymore
    private OutputPiece(PrintedStream stream, long atNs, long number, byte[] octets) {
        this.stream = stream;
        this.atNs = atNs;
        this.number = number;
        this.octets = octets;
    }

    /// The stream that it was printed on.
    public PrintedStream stream() {
        return stream;
    }

    /// When the host received it, nanoseconds since 1970 on the clock of the run's events.
    public long atNs() {
        return atNs;
    }

    /// Its place among the pieces of both streams, from 0: in this order the host received them.
    public long number() {
        return number;
    }

    /// How many octets it has, at least one.
    public int bytes() {
        return octets.length;
    }

    /// Writes its octets.
    public void writeTo(OutputStream out) throws IOException {
        out.write(octets);
    }

    /// Its octets, to be read.
    public ByteBuffer octets() {
        return ByteBuffer.wrap(octets).asReadOnlyBuffer();
    }

    /// Its octets as text, or null if they are not UTF-8. A character that two pieces share is in neither of
    /// them.
    public @Nullable String text() {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(octets))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /// Its octets in base64.
    public String base64() {
        return Base64.getEncoder().encodeToString(octets);
    }

    /// Puts a piece in its form in a file.
    static void put(ByteBuffer into, long atNs, long number, byte[] octets, int offset, int length) {
        into.putLong(atNs).putLong(number).putInt(length).put(octets, offset, length);
    }

    /// Reads the pieces of one stream's file, whose octets are given bit by bit. Owned by one thread.
    public static final class Decoder {
        private final PrintedStream stream;
        private ByteBuffer rest = ByteBuffer.allocate(0);
        private boolean begun;
        private long octet;
        private long lastNs = Long.MIN_VALUE;
        private long lastNumber = -1;

        public Decoder(PrintedStream stream) {
            this.stream = stream;
        }

        /// Takes the file's next octets.
        public void take(ByteBuffer octets) {
            rest = ByteBuffer.allocate(rest.remaining() + octets.remaining())
                    .put(rest)
                    .put(octets)
                    .flip();
        }

        /// How many octets there are of a piece that is not complete, or of the file's first line.
        public int incompleteBytes() {
            return rest.remaining();
        }

        /// The next piece, or null if the octets that were given hold no further one.
        ///
        /// @throws IOException when they are not what is written to such a file
        public @Nullable OutputPiece next() throws IOException {
            if (!begun && !begin() || rest.remaining() < HEADER_BYTES) {
                return null;
            }
            int length = rest.getInt(rest.position() + 2 * Long.BYTES);
            if (length < 1 || length > BYTES_MAX) {
                throw new IOException("at octet " + octet + " is a piece of " + length + " octets");
            }
            if (rest.remaining() - HEADER_BYTES < length) {
                return null;
            }
            long atNs = rest.getLong();
            long number = rest.getLong();
            if (atNs < lastNs || number <= lastNumber) {
                throw new IOException("at octet " + octet + " is a piece that is older than the one before");
            }
            var octets = new byte[rest.getInt()];
            rest.get(octets);
            octet += HEADER_BYTES + length;
            lastNs = atNs;
            lastNumber = number;
            return new OutputPiece(stream, atNs, number, octets);
        }

        private boolean begin() throws IOException {
            byte[] line = VERSION_LINE.getBytes(StandardCharsets.US_ASCII);
            var first = new byte[Math.min(line.length, rest.remaining())];
            rest.get(rest.position(), first);
            if (!Arrays.equals(first, 0, first.length, line, 0, first.length)) {
                throw new IOException("it does not begin with " + VERSION_LINE.strip()
                        + ": a newer Blackbox wrote it, or it is no file of output");
            }
            if (first.length == line.length) {
                rest.position(rest.position() + line.length);
                octet = line.length;
                begun = true;
            }
            return begun;
        }
    }
}
