package blackbox.ingest.parquet;

import java.io.OutputStream;
import java.util.Arrays;

/// Octets that grow: what a page is built in. Reused from page to page.
final class Octets extends OutputStream {

    private byte[] array = new byte[1024];
    private int size;

    byte[] array() {
        return array;
    }

    int size() {
        return size;
    }

    Octets clear() {
        size = 0;
        return this;
    }

    /// Makes room for `more` octets and returns the offset where they go; the caller fills them.
    int extend(int more) {
        int at = size;
        int needed = Math.addExact(size, more);
        if (needed > array.length) {
            array = Arrays.copyOf(array, (int) Math.min(Integer.MAX_VALUE - 8L, Math.max(needed, array.length * 2L)));
        }
        size = needed;
        return at;
    }

    @Override
    public void write(int octet) {
        put(octet);
    }

    @Override
    public void write(byte[] source, int offset, int length) {
        put(source, offset, length);
    }

    Octets put(int octet) {
        int at = extend(1);
        array[at] = (byte) octet;
        return this;
    }

    Octets put(byte[] source, int offset, int length) {
        int at = extend(length);
        System.arraycopy(source, offset, array, at, length);
        return this;
    }

    /// Unsigned LEB128.
    Octets putVarint(int value) {
        while ((value & ~0x7f) != 0) {
            put(value | 0x80);
            value >>>= 7;
        }
        return put(value);
    }

    /// The lowest `octets` octets of `value`, lowest first.
    Octets putLittleEndian(long value, int octets) {
        int at = extend(octets);
        for (int i = 0; i < octets; i++, value >>>= 8) {
            array[at + i] = (byte) value;
        }
        return this;
    }
}
