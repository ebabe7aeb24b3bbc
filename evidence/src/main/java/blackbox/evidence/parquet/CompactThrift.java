package blackbox.evidence.parquet;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Reads the Thrift compact protocol, the encoding of Parquet's footer and page headers, within the bounds of a
/// slice.
///
/// Reading past the end throws [IndexOutOfBoundsException], which the file reader turns into its own
/// exception.
final class CompactThrift {

    static final int STOP = 0;

    private static final int TRUE = 1;
    private static final int FALSE = 2;
    private static final int BYTE = 3;
    private static final int INT32 = 5;
    private static final int DOUBLE = 7;
    private static final int BINARY = 8;
    private static final int LIST = 9;
    private static final int SET = 10;
    private static final int MAP = 11;
    private static final int STRUCT = 12;
    private static final int DEPTH_MAX = 32;

    private final byte[] array;
    private final int end;
    private int at;
    private int type;

    CompactThrift(byte[] array, int from, int end) {
        this.array = array;
        this.at = from;
        this.end = end;
    }

    /// Offset of the next octet.
    int position() {
        return at;
    }

    /// Reads a field's header; `last` is the id of the field before it in the same struct. [#STOP] at the
    /// struct's end.
    ///
    /// @throws IllegalArgumentException when the field's id is not above that one
    int field(int last) {
        int octet = octet();
        type = octet & 0x0f;
        if (type == STOP) {
            return STOP;
        }
        int delta = octet >>> 4;
        int id = delta == 0 ? (int) zigzag() : last + delta;
        // Writers use ascending ids. A field that occurs twice could mean one thing to us and another to an
        // engine.
        if (id <= last) {
            throw new IllegalArgumentException("a struct's fields are not in order");
        }
        return id;
    }

    boolean bool() {
        if (type != TRUE && type != FALSE) {
            throw new IllegalArgumentException("a field is not a boolean");
        }
        return type == TRUE;
    }

    int int32() {
        return Math.toIntExact(int64());
    }

    long int64() {
        if (type < 4 || type > 6) {
            throw new IllegalArgumentException("a field is not a number");
        }
        return zigzag();
    }

    String string() {
        return new String(binary(), StandardCharsets.UTF_8);
    }

    byte[] binary() {
        if (type != BINARY) {
            throw new IllegalArgumentException("a field is not a string");
        }
        int length = length(1);
        at += length;
        return Arrays.copyOfRange(array, at - length, at);
    }

    /// Checks that the field just read is a struct, whose fields follow.
    void struct() {
        if (type != STRUCT) {
            throw new IllegalArgumentException("a field is not a struct");
        }
    }

    /// Reads the header of a list of structs and returns its size; the fields of the first one follow.
    int structs() {
        return list(STRUCT);
    }

    private int list(int element) {
        if (type != LIST) {
            throw new IllegalArgumentException("a field is not a list");
        }
        int header = octet();
        if ((header & 0x0f) != element) {
            throw new IllegalArgumentException("a list's elements have another type");
        }
        return header >>> 4 == 15 ? length(1) : header >>> 4;
    }

    /// Reads a list of strings.
    List<String> strings() {
        var strings = new ArrayList<String>();
        int size = list(BINARY);
        for (int i = 0; i < size; i++) {
            int length = length(1);
            at += length;
            strings.add(new String(array, at - length, length, StandardCharsets.UTF_8));
        }
        return strings;
    }

    /// Reads a list of 32-bit numbers.
    List<Integer> int32s() {
        var numbers = new ArrayList<Integer>();
        int size = list(INT32);
        for (int i = 0; i < size; i++) {
            numbers.add(Math.toIntExact(zigzag()));
        }
        return numbers;
    }

    /// The exception for a field that is unknown here: another reader may know it and read the file differently.
    IllegalArgumentException unknown(String struct, int id) {
        return new IllegalArgumentException(struct + " has a field " + id + ", which Blackbox does not write");
    }

    /// Passes over the field whose header was just read.
    void skip() {
        skip(type, 0);
    }

    private void skip(int skipped, int depth) {
        if (depth > DEPTH_MAX) {
            throw new IllegalArgumentException("structures are nested too deep");
        }
        switch (skipped) {
            case TRUE, FALSE -> {}
            case BYTE -> advance(1);
            case 4, 5, 6 -> varint();
            case DOUBLE -> advance(8);
            case BINARY -> advance(length(1));
            case LIST, SET -> skipList(depth);
            case MAP -> skipMap(depth);
            case STRUCT -> {
                for (int id = field(0); id != STOP; id = field(id)) {
                    skip(type, depth + 1);
                }
            }
            default -> throw new IllegalArgumentException("unknown Thrift type " + skipped);
        }
    }

    private void skipList(int depth) {
        int header = octet();
        int size = header >>> 4 == 15 ? length(1) : header >>> 4;
        int element = header & 0x0f;
        for (int i = 0; i < size; i++) {
            skip(element == TRUE || element == FALSE ? BYTE : element, depth + 1);
        }
    }

    private void skipMap(int depth) {
        int size = length(2);
        if (size == 0) {
            return;
        }
        int types = octet();
        for (int i = 0; i < size; i++) {
            skip(types >>> 4, depth + 1);
            skip(types & 0x0f, depth + 1);
        }
    }

    /// A count of items of at least `unit` octets each, so it cannot exceed what is left.
    private int length(int unit) {
        long length = varint();
        if (length < 0 || length > (end - at) / unit) {
            throw new IllegalArgumentException("a length goes beyond the end");
        }
        return (int) length;
    }

    private void advance(int octets) {
        if (octets > end - at) {
            throw new IndexOutOfBoundsException("a value goes beyond the end");
        }
        at += octets;
    }

    private int octet() {
        advance(1);
        return array[at - 1] & 0xff;
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int octet = octet();
            value |= (long) (octet & 0x7f) << shift;
            if (octet < 0x80) {
                return value;
            }
        }
        throw new IllegalArgumentException("a number is longer than ten octets");
    }

    private long zigzag() {
        long value = varint();
        return value >>> 1 ^ -(value & 1);
    }
}
