package blackbox.vault;

import blackbox.vault.VaultException.Code;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;

/// An encrypted payload (`schemas/payload.md`). What it returns is genuine: written by whoever had the run's key, under
/// this run and name, at this place. If the file's end is missing, all before the last complete segment can be read.
final class EncryptedPayload implements OpenPayload {
    private final FileChannel file;
    private final String what;
    private final SegmentCipher cipher;
    private final byte[] stored = new byte[SegmentCipher.SEGMENT_BYTES];
    private final byte[] plain = new byte[SegmentCipher.SEGMENT_BYTES];
    /// Which segment `plain` holds, or -1; with the two below guarded by this.
    private long number = -1;

    private int length;
    private boolean ends;

    private EncryptedPayload(FileChannel file, String what, SegmentCipher cipher) {
        this.file = file;
        this.what = what;
        this.cipher = cipher;
    }

    /// Opens an encrypted file.
    ///
    /// @param file which this closes, also when it fails
    /// @param what the file, for people
    /// @param associated what its octets are bound to
    static EncryptedPayload open(FileChannel file, String what, PayloadKey key, PayloadForm form, byte[] associated)
            throws IOException {
        try {
            byte[] magic = form.magic();
            var head = ByteBuffer.allocate(magic.length + SegmentCipher.HEADER_BYTES);
            fill(file, head, 0);
            byte[] found = Arrays.copyOf(head.array(), Math.min(magic.length, head.position()));
            if (!Arrays.equals(found, Arrays.copyOf(magic, found.length))) {
                throw new VaultException(
                        Code.ALTERED, what + " does not begin as an encrypted payload of this version");
            }
            if (head.hasRemaining()) {
                throw new VaultException(Code.CUT, what + " ends within its first " + head.capacity() + " octets");
            }
            byte[] header = Arrays.copyOfRange(head.array(), magic.length, head.capacity());
            if (header[0] != SegmentCipher.HEADER_BYTES) {
                throw new VaultException(Code.ALTERED, what + " has a header of another length");
            }
            return new EncryptedPayload(file, what, new SegmentCipher(key, header, associated));
        } catch (IOException e) {
            file.close();
            throw e;
        }
    }

    private static void fill(FileChannel file, ByteBuffer buffer, long at) throws IOException {
        long from = at;
        for (int n = file.read(buffer, from); buffer.hasRemaining() && n >= 0; n = file.read(buffer, from)) {
            from += n;
        }
    }

    /// The stream's length: the file without its first line.
    private long streamBytes() throws IOException {
        return file.size() - PayloadForm.MAGIC_BYTES;
    }

    private long segments() throws IOException {
        return Math.max(1, Math.ceilDiv(streamBytes(), SegmentCipher.SEGMENT_BYTES));
    }

    @Override
    public long size() throws IOException {
        long whole = segments() - 1;
        long last = streamBytes() - whole * SegmentCipher.SEGMENT_BYTES - (whole == 0 ? SegmentCipher.HEADER_BYTES : 0);
        long before = whole == 0 ? 0 : whole * SegmentCipher.PLAIN_BYTES - SegmentCipher.HEADER_BYTES;
        return before + Math.max(0, last - SegmentCipher.TAG_BYTES);
    }

    @Override
    public synchronized int read(ByteBuffer into, long at) throws IOException {
        if (!into.hasRemaining()) {
            return 0;
        }
        if (at < 0) {
            throw new IllegalArgumentException("no octet has the place " + at);
        }
        // As if the header were the first segment's first octets.
        long place = at + SegmentCipher.HEADER_BYTES;
        long wanted = place / SegmentCipher.PLAIN_BYTES;
        if (wanted >= segments()) {
            load(segments() - 1);
            return end();
        }
        load(wanted);
        int from = (int) (wanted == 0 ? at : place % SegmentCipher.PLAIN_BYTES);
        if (from >= length) {
            return end();
        }
        int count = Math.min(into.remaining(), length - from);
        into.put(plain, from, count);
        return count;
    }

    /// The end is one only if the last segment says so.
    private int end() throws VaultException {
        if (ends) {
            return -1;
        }
        throw new VaultException(Code.CUT, what + " has lost its end");
    }

    private void load(long wanted) throws IOException {
        if (number == wanted) {
            return;
        }
        number = -1;
        boolean first = wanted == 0;
        boolean last = wanted == segments() - 1;
        int head = first ? SegmentCipher.HEADER_BYTES : 0;
        ByteBuffer buffer = ByteBuffer.wrap(stored, 0, SegmentCipher.SEGMENT_BYTES - head);
        fill(file, buffer, PayloadForm.MAGIC_BYTES + wanted * SegmentCipher.SEGMENT_BYTES + head);
        int octets = buffer.position();
        int opened = octets < SegmentCipher.TAG_BYTES ? -1 : cipher.decrypt(wanted, last, stored, octets, plain);
        ends = last && opened >= 0;
        if (opened < 0 && last && !buffer.hasRemaining()) {
            // Cut off between two segments: this one is whole.
            opened = cipher.decrypt(wanted, false, stored, octets, plain);
        }
        if (opened < 0) {
            throw last
                    ? new VaultException(Code.CUT, what + " has lost its end, or its last segment was altered")
                    : new VaultException(
                            Code.ALTERED,
                            what + " is not what was stored: its segment " + wanted
                                    + " was altered, or belongs to another run or file");
        }
        number = wanted;
        length = opened;
    }

    @Override
    public void close() throws IOException {
        Arrays.fill(plain, (byte) 0);
        file.close();
    }
}
