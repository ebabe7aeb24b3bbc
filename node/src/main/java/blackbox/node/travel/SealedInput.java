package blackbox.node.travel;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/// A file of a run on its way, checked against its seal while it is read. What it returns last before its end
/// is genuine only if the end comes without an error. Owned by one thread.
final class SealedInput extends FilterInputStream {

    /// A seal that does not hold, on its way through a stream's reader.
    static final class BrokenSealException extends IOException {
        private static final long serialVersionUID = 1L;
        private final TravelException why;

        BrokenSealException(TravelException why) {
            super(why.getMessage(), why);
            this.why = why;
        }

        TravelException why() {
            return why;
        }
    }

    private final Seal seal;
    private long left;

    /// @param bytes how many octets are read; the rest of `in` does not count
    SealedInput(InputStream in, long bytes, Seal seal) throws IOException {
        super(in);
        this.seal = seal;
        this.left = bytes;
        if (bytes == 0) {
            end();
        }
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
        int read = in.read(into, offset, (int) Math.min(left, count));
        if (read < 0) {
            return -1; // whoever reads it knows how long it is
        }
        left -= read;
        try {
            seal.see(into, offset, read);
        } catch (TravelException e) {
            throw new BrokenSealException(e);
        }
        if (left == 0) {
            end();
        }
        return read;
    }

    private void end() throws IOException {
        try {
            seal.end();
        } catch (TravelException e) {
            throw new BrokenSealException(e);
        }
    }
}
