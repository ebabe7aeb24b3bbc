package blackbox.vault.parcel;

import blackbox.schemas.Sha256;
import com.github.luben.zstd.ZstdInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.Arrays;

/// Reads a parcel: the manifest, then each part in its order, then [#end], which alone says that all of it was
/// genuine. What is read before is what the file holds, whoever wrote it: at most as many octets as the manifest
/// declares, and with a window of at most 8 MiB. Owned by one thread.
public final class ParcelReader implements AutoCloseable {

    /// Of the window that zstd needs to open it, as a power of two.
    private static final int WINDOW_LOG_MAX = 23;

    private final DigestInputStream in;
    private final ParcelManifest manifest;
    private final Blocks blocks;
    private final ZstdInputStream zstd;
    private int next;

    /// Reads the manifest.
    ///
    /// @param in the parcel, buffered; not closed
    /// @throws MalformedParcelException when it is none of this version
    public ParcelReader(InputStream in) throws IOException {
        this.in = new DigestInputStream(in, Sha256.digest());
        byte[] head = this.in.readNBytes(headBytes());
        if (!isOne(head)) {
            throw new MalformedParcelException(
                    "is not a run that `blackbox export --format replay` of this version wrote");
        }
        int length = number();
        if (length < 1 || length > ParcelManifest.OCTETS_MAX) {
            throw new MalformedParcelException("has a manifest of " + length + " octets");
        }
        this.manifest = ParcelManifest.parse(exactly(length));
        this.blocks = new Blocks();
        this.zstd = new ZstdInputStream(blocks);
        zstd.setLongMax(WINDOW_LOG_MAX);
    }

    /// How many octets of a file tell whether it is one.
    public static int headBytes() {
        return ParcelManifest.FIRST.length() + 1;
    }

    /// Whether these are the first octets of one.
    public static boolean isOne(byte[] head) {
        return Arrays.equals(head, (ParcelManifest.FIRST + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    /// What it says that it holds.
    public ParcelManifest manifest() {
        return manifest;
    }

    /// The octets of the next part, exactly as many as are declared. They must be read to their end before the next
    /// one is asked for.
    public InputStream next() {
        return new Part(manifest.parts().get(next++));
    }

    /// Requires that nothing follows the last part, and that every octet is the one that was written.
    ///
    /// @throws MalformedParcelException otherwise
    public void end() throws IOException {
        if (next != manifest.parts().size()) {
            throw new IllegalStateException("only " + next + " of the parts were read");
        }
        if (decompressed(new byte[1], 0, 1) >= 0 || !blocks.ended()) {
            throw new MalformedParcelException("holds more than its parts");
        }
        byte[] actual = in.getMessageDigest().digest();
        in.on(false);
        byte[] stored = in.readNBytes(actual.length);
        if (!MessageDigest.isEqual(actual, stored)) {
            throw new MalformedParcelException("is not what was written: its digest is another one, or it was cut");
        }
        if (in.read() >= 0) {
            throw new MalformedParcelException("has something behind its end");
        }
    }

    /// Frees what decompressing needs.
    @Override
    public void close() throws IOException {
        zstd.close();
    }

    private int number() throws IOException {
        return ByteBuffer.wrap(exactly(Integer.BYTES)).getInt();
    }

    private byte[] exactly(int length) throws IOException {
        byte[] octets = in.readNBytes(length);
        if (octets.length < length) {
            throw new MalformedParcelException("has lost its end");
        }
        return octets;
    }

    private int decompressed(byte[] into, int offset, int count) throws IOException {
        try {
            return zstd.read(into, offset, count);
        } catch (EOFException e) {
            throw new MalformedParcelException("has lost its end", e);
        } catch (IOException e) {
            if (e.getClass().getPackageName().startsWith("com.github.luben")) {
                throw new MalformedParcelException("cannot be decompressed: " + e.getMessage(), e);
            }
            throw e;
        }
    }

    /// One part.
    private final class Part extends InputStream {
        private final ParcelPart part;
        private long left;

        Part(ParcelPart part) {
            this.part = part;
            this.left = part.bytes();
        }

        @Override
        public int read() throws IOException {
            var one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int count) throws IOException {
            if (left == 0) {
                return -1;
            }
            int read = decompressed(into, offset, (int) Math.min(left, count));
            if (read < 0) {
                throw new MalformedParcelException("ends within its part " + part.name());
            }
            left -= read;
            return read;
        }
    }

    /// The compressed stream, without the lengths of its blocks.
    private final class Blocks extends InputStream {
        private int left;
        private boolean ended;

        @Override
        public int read() throws IOException {
            var one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int offset, int count) throws IOException {
            if (!more()) {
                return -1;
            }
            int read = in.read(into, offset, Math.min(count, left));
            if (read < 0) {
                throw new MalformedParcelException("has lost its end");
            }
            left -= read;
            return read;
        }

        private boolean more() throws IOException {
            if (left == 0 && !ended) {
                left = number();
                ended = left == 0;
                if (left < 0 || left > ParcelWriter.BLOCK_BYTES_MAX) {
                    throw new MalformedParcelException("has a block of " + left + " octets");
                }
            }
            return !ended;
        }

        /// Whether the last block was read, which may be found out only now.
        boolean ended() throws IOException {
            return left == 0 && !more();
        }
    }
}
