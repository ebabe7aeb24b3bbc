package blackbox.replay.sqlite;

import static blackbox.replay.sqlite.DamagedDatabaseException.require;

import blackbox.schemas.Hash;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The values of a record (SQLite, "Database File Format", 2.1).
final class Values {
    /// SQLite has no more columns.
    private static final int VALUES_MAX = 32_767;

    private static final int REAL = 7;
    private static final int ZERO = 8;
    private static final int ONE = 9;
    private static final int BLOB = 12;
    private static final int[] NUMBER_BYTES = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};

    private Values() {}

    /// What kind of value.
    enum Sort {
        NULL("nothing"),
        INTEGER("an integer"),
        REAL("a number"),
        TEXT("a text"),
        BLOB("a blob");

        private final String words;

        Sort(String words) {
            this.words = words;
        }
    }

    /// One value.
    ///
    /// @param letters what it says: for a number its decimal digits, for others its octets
    record Value(Sort sort, byte[] letters) {
        boolean isSame(Value other) {
            return sort == other.sort && Arrays.equals(letters, other.letters);
        }

        /// In words, without what it says.
        String inWords() {
            return sort == Sort.NULL
                    ? sort.words
                    : sort.words + " of " + letters.length + " octets, SHA-256 " + Hash.sha256(letters);
        }
    }

    /// All of a record.
    static List<Value> of(byte[] record) throws DamagedDatabaseException {
        ByteBuffer octets = ByteBuffer.wrap(record);
        var header = new Varints(octets, 0, record.length);
        long end = header.next();
        require(end >= header.at() && end <= record.length, "a record's header is longer than the record");
        var types = new Varints(octets, header.at(), (int) end);
        var values = new ArrayList<Value>();
        int at = (int) end;
        while (types.at() < end) {
            long type = types.next();
            long bytes = bytes(type);
            require(bytes >= 0 && bytes <= record.length - at, "a value goes beyond its record");
            require(values.size() < VALUES_MAX, "a record has more than " + VALUES_MAX + " values");
            values.add(value(type, Arrays.copyOfRange(record, at, at + (int) bytes)));
            at += (int) bytes;
        }
        require(at == record.length, "a record is longer than its values");
        return values;
    }

    private static long bytes(long type) throws DamagedDatabaseException {
        require(type >= 0 && type != 10 && type != 11, "a value is of no known type");
        return type < BLOB ? NUMBER_BYTES[(int) type] : (type - BLOB) / 2;
    }

    private static Value value(long type, byte[] octets) {
        if (type >= BLOB) {
            return new Value(type % 2 == 0 ? Sort.BLOB : Sort.TEXT, octets);
        }
        return switch ((int) type) {
            case 0 -> new Value(Sort.NULL, octets);
            case REAL -> new Value(Sort.REAL, real(octets));
            case ZERO -> new Value(Sort.INTEGER, ascii("0"));
            case ONE -> new Value(Sort.INTEGER, ascii("1"));
            default -> new Value(Sort.INTEGER, ascii(Long.toString(integer(octets))));
        };
    }

    static long integer(byte[] octets) {
        long value = octets[0];
        for (int i = 1; i < octets.length; i++) {
            value = value << 8 | octets[i] & 0xff;
        }
        return value;
    }

    /// Each number in another way.
    private static byte[] real(byte[] octets) {
        double value = Double.longBitsToDouble(integer(octets));
        return Double.isFinite(value) && value != 0
                ? ascii(new BigDecimal(Double.toString(value)).toPlainString())
                : octets;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
