package blackbox.schemas.row;

/// The canonical leaf: a version octet, then every non-null column as its field id (varint, strictly
/// ascending) and its value. One row has one leaf; a leaf that is not the encoding of its own row is refused.
///
/// See `schemas/leaf.md`. A leaf is at most [#BYTES_MAX] octets, the limit of a C2SP tlog-tiles entry.
public final class LeafCodec {

    /// The version octet that every leaf starts with.
    public static final byte VERSION = 1;

    /// The longest leaf, in octets.
    public static final int BYTES_MAX = 65_535;

    /// The most that field ids, numbers, lengths and the version add to a row's octets.
    private static final int FRAMING_BYTES_MAX = 1 + Column.SLOTS * 11;

    private LeafCodec() {}

    /// A cheap upper bound of [#size].
    public static long sizeMax(Row row) {
        return row.octetsMax() + FRAMING_BYTES_MAX;
    }

    /// How many octets `row` encodes to.
    public static int size(Row row) {
        int size = 1;
        for (long left = row.presentMask(); left != 0; left &= left - 1) {
            Column column = Column.of(Long.numberOfTrailingZeros(left));
            size += 1 + valueSize(row, column);
        }
        return size;
    }

    private static int valueSize(Row row, Column column) {
        return switch (column.type()) {
            case INT, LONG -> signedSize(row.number(column));
            case STRING, BYTES -> Varint.size(row.length(column)) + row.length(column);
            case STRING_LIST -> row.length(column);
        };
    }

    /// Writes `row`'s leaf to `target` at `at` and returns the offset after it. The caller makes sure that
    /// there is room ([#size]).
    public static int encode(Row row, byte[] target, int at) {
        target[at++] = VERSION;
        for (long left = row.presentMask(); left != 0; left &= left - 1) {
            Column column = Column.of(Long.numberOfTrailingZeros(left));
            target[at++] = (byte) column.fieldId();
            at = switch (column.type()) {
                case INT, LONG -> putSigned(target, at, row.number(column));
                case STRING, BYTES -> putOctets(row, column, target, Varint.put(target, at, row.length(column)));
                case STRING_LIST -> putOctets(row, column, target, at);
            };
        }
        return at;
    }

    private static int putOctets(Row row, Column column, byte[] target, int at) {
        System.arraycopy(row.array(column), row.offset(column), target, at, row.length(column));
        return at + row.length(column);
    }

    /// Reads the leaf at `[from, end)` into `row`, which keeps slices of `source`.
    ///
    /// @return false if the octets are not a canonical version-1 leaf; `row` is then unusable until cleared
    public static boolean decode(byte[] source, int from, int end, Row row) {
        row.clear();
        if (from >= end || source[from] != VERSION) {
            return false;
        }
        int at = from + 1;
        int last = 0;
        while (at < end) {
            int fieldId = source[at++];
            Column column = Column.byFieldId(fieldId);
            if (column == null || fieldId <= last) {
                return false;
            }
            last = fieldId;
            at = decodeValue(source, at, end, row, column);
            if (at < 0) {
                return false;
            }
        }
        return true;
    }

    private static int decodeValue(byte[] source, int at, int end, Row row, Column column) {
        return switch (column.type()) {
            case INT, LONG -> decodeNumber(source, at, end, row, column);
            case STRING, BYTES -> {
                boolean isShort = at < end && source[at] >= 0;
                long length = isShort ? source[at] : Varint.get(source, at, end);
                int start = at + (isShort ? 1 : Varint.size(length));
                if (length < 0 || length > end - start) {
                    yield -1;
                }
                row.set(column, source, start, (int) length);
                yield start + (int) length;
            }
            case STRING_LIST -> {
                int behind = skipList(source, at, end);
                if (behind >= 0) {
                    row.set(column, source, at, behind - at);
                }
                yield behind;
            }
        };
    }

    private static int decodeNumber(byte[] source, int at, int end, Row row, Column column) {
        if (at < end && source[at] >= 0) { // as most numbers are
            row.set(column, Varint.unzigzag(source[at]));
            return at + 1;
        }
        long value = 0;
        for (int shift = 0; shift < 70 && at < end; shift += 7) {
            byte octet = source[at++];
            value |= (long) (octet & 0x7f) << shift;
            if (octet >= 0) {
                boolean minimal = (octet != 0 || shift == 0) && (shift < 63 || octet == 1);
                long number = Varint.unzigzag(value);
                if (!minimal || column.type() == ColumnType.INT && number != (int) number) {
                    return -1;
                }
                row.set(column, number);
                return at;
            }
        }
        return -1;
    }

    private static int skipList(byte[] source, int at, int end) {
        long count = Varint.get(source, at, end);
        if (count < 0 || count > end - at) {
            return -1;
        }
        at += Varint.size(count);
        for (long i = 0; i < count; i++) {
            long length = Varint.get(source, at, end);
            if (length < 0) {
                return -1;
            }
            at += Varint.size(length);
            if (length > end - at) {
                return -1;
            }
            at += (int) length;
        }
        return at;
    }

    private static int signedSize(long value) {
        return Varint.size(Varint.zigzag(value));
    }

    private static int putSigned(byte[] target, int at, long value) {
        return Varint.put(target, at, Varint.zigzag(value));
    }
}
