package blackbox.vm.snapshot;

import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.seek.DataExtents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.BitSet;

/// The digest of a file that is mostly zeros, a machine's RAM: the SHA-256 over
///
/// - `blackbox-pages-v1` and a line feed,
/// - the file's length in octets, 64 bits,
/// - for each page of 4,096 octets that is not all zeros, in their order, its number from 0, 64 bits, and its
///   octets; those that a last, shorter page lacks are zeros.
///
/// Numbers are most significant octet first. The text depends on the file's content alone, not on where it has
/// holes: these are only not read. It is another one for each content: the length comes first, each record has
/// 4,104 octets, and what has no record is zeros. Its first line keeps it apart from the digest of a whole
/// file.
final class PageDigest {

    private static final String FIRST_LINE = "blackbox-pages-v1\n";
    private static final int PAGE_BYTES = 4096;
    private static final int CHUNK_BYTES = 1 << 20;
    private static final byte[] ZEROS = new byte[PAGE_BYTES];

    private PageDigest() {}

    static Hash of(Path file) throws VmException {
        BitSet pages = DataExtents.pages(file, PAGE_BYTES);
        MessageDigest digest = Sha256.digest();
        try (var channel = FileChannel.open(file)) {
            digest.update(FIRST_LINE.getBytes(StandardCharsets.US_ASCII));
            digest.update(number(channel.size()));
            var chunk = new byte[CHUNK_BYTES];
            for (int from = pages.nextSetBit(0); from >= 0; ) {
                int to = Math.min(pages.nextClearBit(from), from + CHUNK_BYTES / PAGE_BYTES);
                Arrays.fill(chunk, (byte) 0);
                read(channel, (long) from * PAGE_BYTES, ByteBuffer.wrap(chunk, 0, (to - from) * PAGE_BYTES));
                for (int page = from; page < to; page++) {
                    add(digest, page, chunk, (page - from) * PAGE_BYTES);
                }
                from = pages.nextSetBit(to);
            }
            return Hash.copyOf(digest.digest(), 0);
        } catch (IOException e) {
            throw new VmException(Code.IO, "could not hash " + file, e);
        }
    }

    private static void add(MessageDigest digest, int page, byte[] chunk, int at) {
        if (!Arrays.equals(chunk, at, at + PAGE_BYTES, ZEROS, 0, PAGE_BYTES)) {
            digest.update(number(page));
            digest.update(chunk, at, PAGE_BYTES);
        }
    }

    /// Up to the file's end.
    private static void read(FileChannel channel, long from, ByteBuffer to) throws IOException {
        for (long at = from; to.hasRemaining(); ) {
            int n = channel.read(to, at);
            if (n < 0) {
                return;
            }
            at += n;
        }
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }
}
