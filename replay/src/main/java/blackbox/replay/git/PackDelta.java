package blackbox.replay.git;

import java.util.zip.DataFormatException;

/// How a pack says what an object is by another one (`gitformat-pack`, "Deltified representation"): its length, then
/// pieces of the other one and octets of its own.
final class PackDelta {
    private static final int COPY = 0x80;
    /// What a copy without a length copies.
    private static final int COPY_ALL = 0x10000;

    private final byte[] delta;
    private int at;

    private PackDelta(byte[] delta) {
        this.delta = delta;
    }

    /// What a delta makes of another object's content.
    ///
    /// @throws DataFormatException if it is not for this object, goes beyond it, or does not make exactly what it
    /// announces
    static byte[] apply(byte[] base, byte[] delta, PackWork work) throws DataFormatException {
        var reading = new PackDelta(delta);
        if (reading.length() != base.length) {
            throw new DataFormatException("a delta for another object");
        }
        int length = reading.length();
        work.spend(length);
        var content = new byte[length];
        reading.fill(content, base);
        return content;
    }

    private void fill(byte[] content, byte[] base) throws DataFormatException {
        int made = 0;
        while (at < delta.length) {
            int what = next();
            boolean copies = (what & COPY) != 0;
            int from = copies ? number(what, 4) : at;
            int length = copies ? number(what >> 4, 3) : what;
            byte[] source = copies ? base : delta;
            length = copies && length == 0 ? COPY_ALL : length;
            if (length == 0 || from < 0 || length > source.length - from || length > content.length - made) {
                throw new DataFormatException("a delta beyond its object");
            }
            System.arraycopy(source, from, content, made, length);
            made += length;
            at += copies ? 0 : length;
        }
        if (made != content.length) {
            throw new DataFormatException("a delta that ends early");
        }
    }

    private int next() throws DataFormatException {
        if (at == delta.length) {
            throw new DataFormatException("a delta is cut");
        }
        return delta[at++] & 0xff;
    }

    /// A number of which only the octets are there whose bits are set, the lowest first.
    private int number(int bits, int octets) throws DataFormatException {
        int number = 0;
        for (int i = 0; i < octets; i++) {
            if ((bits >> i & 1) != 0) {
                number |= next() << 8 * i;
            }
        }
        return number;
    }

    /// Seven bits an octet, the lowest first.
    private int length() throws DataFormatException {
        long length = 0;
        int shift = 0;
        int octet;
        do {
            octet = next();
            length |= (long) (octet & 0x7f) << shift;
            shift += 7;
        } while (octet > 0x7f && shift < Integer.SIZE);
        if (octet > 0x7f || length > GitObject.BYTES_MAX) {
            throw new DataFormatException("a length of " + length);
        }
        return (int) length;
    }
}
