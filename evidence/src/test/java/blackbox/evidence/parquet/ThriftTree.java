package blackbox.evidence.parquet;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/// Any struct of the Thrift compact protocol as a tree that can be changed and written again: a tool for forging
/// footers.
public final class ThriftTree {

    static final int BYTE = 3;
    static final int I32 = 5;
    static final int I64 = 6;
    static final int DOUBLE = 7;
    static final int BINARY = 8;
    static final int LIST = 9;
    static final int STRUCT = 12;

    /// A value with its type in the protocol. `value` is a Long, a Boolean, octets, a list of values or a struct's
    /// fields by id.
    public record Value(int type, Object value) {

        static Value i32(long value) {
            return new Value(I32, value);
        }

        static Value i64(long value) {
            return new Value(I64, value);
        }

        static Value text(String value) {
            return new Value(BINARY, value.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        }

        static Value struct() {
            return new Value(STRUCT, new TreeMap<Integer, Value>());
        }

        static Value structs(List<Value> values) {
            return new Value(LIST, new Elements(STRUCT, new ArrayList<>(values)));
        }

        static Value numbers(List<Long> values) {
            return new Value(
                    LIST, new Elements(I32, values.stream().map(Value::i32).toList()));
        }

        @SuppressWarnings("unchecked")
        TreeMap<Integer, Value> fields() {
            return (TreeMap<Integer, Value>) value;
        }

        List<Value> elements() {
            return ((Elements) value).values;
        }

        Value get(int field) {
            return java.util.Objects.requireNonNull(fields().get(field), () -> "no field " + field);
        }

        Value with(int field, Value changed) {
            fields().put(field, changed);
            return this;
        }
    }

    private record Elements(int type, List<Value> values) {}

    private final byte[] array;
    private int at;

    private ThriftTree(byte[] array) {
        this.array = array;
    }

    /// The struct that these octets are.
    static Value parse(byte[] octets) {
        return new ThriftTree(octets).value(STRUCT);
    }

    /// The list of structs that these octets are.
    static Value parseList(byte[] octets) {
        return new ThriftTree(octets).value(LIST);
    }

    static byte[] octets(Value struct) {
        var out = new ByteArrayOutputStream();
        write(out, struct);
        return out.toByteArray();
    }

    private Value value(int type) {
        return new Value(
                type,
                switch (type) {
                    case 1 -> true;
                    case 2 -> false;
                    case BYTE -> (long) array[at++];
                    case 4, I32, I64 -> zigzag();
                    case DOUBLE -> slice(8);
                    case BINARY -> slice((int) varint());
                    case LIST -> list();
                    case STRUCT -> struct();
                    default -> throw new IllegalArgumentException("type " + type);
                });
    }

    private TreeMap<Integer, Value> struct() {
        var fields = new TreeMap<Integer, Value>();
        for (int last = 0, header = array[at++] & 0xff; (header & 15) != 0; header = array[at++] & 0xff) {
            last = header >>> 4 == 0 ? (int) zigzag() : last + (header >>> 4);
            fields.put(last, value(header & 15));
        }
        return fields;
    }

    private Elements list() {
        int header = array[at++] & 0xff;
        int size = header >>> 4 == 15 ? (int) varint() : header >>> 4;
        int type = header & 15;
        var values = new ArrayList<Value>();
        for (int i = 0; i < size; i++) {
            values.add(type <= 2 ? new Value(BYTE, (long) array[at++]) : value(type));
        }
        return new Elements(type, values);
    }

    private byte[] slice(int length) {
        at += length;
        return Arrays.copyOfRange(array, at - length, at);
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            int octet = array[at++];
            value |= (long) (octet & 0x7f) << shift;
            if (octet >= 0) {
                return value;
            }
        }
    }

    private long zigzag() {
        long value = varint();
        return value >>> 1 ^ -(value & 1);
    }

    private static void write(ByteArrayOutputStream out, Value value) {
        switch (value.type) {
            case 1, 2 -> {}
            case BYTE -> out.write(((Long) value.value).intValue());
            case 4, I32, I64 -> {
                long number = (Long) value.value;
                varint(out, number << 1 ^ number >> 63);
            }
            case DOUBLE -> out.writeBytes((byte[]) value.value);
            case BINARY -> {
                varint(out, ((byte[]) value.value).length);
                out.writeBytes((byte[]) value.value);
            }
            case LIST -> writeList(out, (Elements) value.value);
            case STRUCT -> writeStruct(out, value.fields());
            default -> throw new IllegalArgumentException("type " + value.type);
        }
    }

    private static void writeList(ByteArrayOutputStream out, Elements list) {
        int size = list.values.size();
        out.write(Math.min(size, 15) << 4 | list.type);
        if (size >= 15) {
            varint(out, size);
        }
        list.values.forEach(element -> write(out, element));
    }

    private static void writeStruct(ByteArrayOutputStream out, TreeMap<Integer, Value> fields) {
        int last = 0;
        for (var field : fields.entrySet()) {
            int delta = field.getKey() - last;
            if (delta > 15) {
                throw new IllegalArgumentException("field " + field.getKey() + " is too far from the one before");
            }
            out.write(delta << 4 | field.getValue().type);
            write(out, field.getValue());
            last = field.getKey();
        }
        out.write(0);
    }

    private static void varint(ByteArrayOutputStream out, long value) {
        long left = value;
        while (left >>> 7 != 0) {
            out.write((int) (left & 0x7f | 0x80));
            left >>>= 7;
        }
        out.write((int) left);
    }
}
