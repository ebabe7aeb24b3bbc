package blackbox.vault;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Set;
import java.util.function.LongConsumer;

/// Writes encrypted files. Owned by one thread.
final class PayloadWriter {
    private final byte[] plain = new byte[SegmentCipher.PLAIN_BYTES];
    private final byte[] next = new byte[SegmentCipher.PLAIN_BYTES];
    private final byte[] stored = new byte[SegmentCipher.SEGMENT_BYTES];
    private final SecureRandom random;

    PayloadWriter(SecureRandom random) {
        this.random = random;
    }

    /// Encrypts `in`, to its end, into `target`: a new file that its owner alone may open, durable when this returns.
    ///
    /// @param written receives how many octets have been read so far, a segment at a time
    void write(InputStream in, Path target, PayloadKey key, PayloadForm form, byte[] associated, LongConsumer written)
            throws IOException {
        Files.deleteIfExists(target); // left by a crash
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        byte[] header = SegmentCipher.header(random);
        var cipher = new SegmentCipher(key, header, associated);
        try (var out =
                FileChannel.open(target, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode)) {
            put(out, form.magic(), PayloadForm.MAGIC_BYTES);
            put(out, header, header.length);
            long read = 0;
            int ahead = in.readNBytes(next, 0, next.length - header.length);
            boolean last = false;
            for (long number = 0; !last; number++) {
                int length = ahead;
                System.arraycopy(next, 0, plain, 0, length);
                ahead = in.readNBytes(next, 0, next.length);
                last = ahead == 0;
                put(out, stored, cipher.encrypt(number, last, plain, length, stored));
                read += length;
                written.accept(read);
            }
            out.force(true);
        } finally {
            Arrays.fill(plain, (byte) 0);
            Arrays.fill(next, (byte) 0);
        }
    }

    private static void put(FileChannel out, byte[] octets, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(octets, 0, length);
        while (buffer.hasRemaining()) {
            out.write(buffer);
        }
    }
}
