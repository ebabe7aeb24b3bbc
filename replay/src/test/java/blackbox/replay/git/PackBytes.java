package blackbox.replay.git;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.Deflater;

/// A pack that is put together octet by octet, right or wrong.
final class PackBytes {
    static final int BLOB = 3;
    private static final int BY_OFFSET = 6;
    private static final int BY_ID = 7;

    private final ByteArrayOutputStream objects = new ByteArrayOutputStream();
    private int count;

    static String id(byte[] content) {
        return GitObject.packed(GitObject.Type.BLOB, content).id();
    }

    static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /// Where the next object will be.
    int at() {
        return 12 + objects.size();
    }

    PackBytes blob(byte[] content) {
        return object(BLOB, content.length, new byte[0], deflated(content));
    }

    PackBytes byOffset(int before, byte[] delta) {
        var offset = new ByteArrayOutputStream();
        for (int shift = 28; shift >= 0; shift -= 7) {
            // Each octet but the last counts from one.
            long least = shift == 0 ? 0 : leastOf(shift);
            if (before >= least) {
                offset.write((int) (before - leastOf(shift) >> shift & 0x7f) | (shift == 0 ? 0 : 0x80));
            }
        }
        return object(BY_OFFSET, delta.length, offset.toByteArray(), deflated(delta));
    }

    private static long leastOf(int shift) {
        long least = 0;
        for (int each = 7; each <= shift; each += 7) {
            least += 1L << each;
        }
        return least;
    }

    PackBytes byId(String id, byte[] delta) {
        return object(BY_ID, delta.length, HexFormat.of().parseHex(id), deflated(delta));
    }

    /// @param length that its header announces
    PackBytes object(int type, int length, byte[] base, byte[] data) {
        int left = length >>> 4;
        objects.write(type << 4 | length & 0xf | (left > 0 ? 0x80 : 0));
        while (left > 0) {
            objects.write(left & 0x7f | (left > 0x7f ? 0x80 : 0));
            left >>>= 7;
        }
        objects.writeBytes(base);
        objects.writeBytes(data);
        count++;
        return this;
    }

    /// Octets that belong to no object.
    PackBytes stray(byte[] octets) {
        objects.writeBytes(octets);
        return this;
    }

    /// One that its header counts and that is not there, or the other way round.
    PackBytes miscounted(int by) {
        count += by;
        return this;
    }

    byte[] done() {
        return signed(ByteBuffer.allocate(at() + 20)
                .put(octets("PACK"))
                .putInt(2)
                .putInt(count)
                .put(objects.toByteArray()));
    }

    private static byte[] signed(ByteBuffer out) {
        return PackIndex.signed(out);
    }

    /// With one octet changed, and the digest made right.
    static byte[] changed(byte[] pack, int at, int xor) {
        byte[] other = pack.clone();
        other[at] ^= (byte) xor;
        return signed(ByteBuffer.wrap(other).position(pack.length - 20));
    }

    /// What it must be called.
    static String name(byte[] pack) {
        return HexFormat.of().formatHex(pack, pack.length - 20, pack.length);
    }

    static byte[] deflated(byte[] content) {
        var deflater = new Deflater();
        deflater.setInput(content);
        deflater.finish();
        var out = new ByteArrayOutputStream();
        var chunk = new byte[1 << 16];
        while (!deflater.finished()) {
            out.write(chunk, 0, deflater.deflate(chunk));
        }
        deflater.end();
        return out.toByteArray();
    }

    /// A delta that appends to all of a content shorter than 128 octets.
    static byte[] appending(int baseLength, byte[] more) {
        byte[] delta = new byte[5 + more.length];
        delta[0] = (byte) baseLength;
        delta[1] = (byte) (baseLength + more.length);
        delta[2] = (byte) 0x90; // copy, with one octet of length, from the beginning
        delta[3] = (byte) baseLength;
        delta[4] = (byte) more.length;
        System.arraycopy(more, 0, delta, 5, more.length);
        return delta;
    }

    static byte[] joined(byte[] one, byte[] other) {
        byte[] both = Arrays.copyOf(one, one.length + other.length);
        System.arraycopy(other, 0, both, one.length, other.length);
        return both;
    }
}
