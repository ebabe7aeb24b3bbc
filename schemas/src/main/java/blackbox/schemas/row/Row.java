package blackbox.schemas.row;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// One event as nullable typed columns: reusable, filled by the thread that owns it, then encoded or stored.
///
/// Octets are held as slices of the array they came from, so decoding a leaf copies nothing; a decoded row is
/// valid only as long as that array is not changed.
public final class Row {

    private long present;
    private long octetsMax;
    private final long[] numbers = new long[Column.SLOTS];
    private final byte[][] octets = new byte[Column.SLOTS][];
    private final int[] offsets = new int[Column.SLOTS];
    private final int[] lengths = new int[Column.SLOTS];

    public Row() {
        Arrays.fill(octets, new byte[0]);
    }

    /// Empties the row for the next event.
    public Row clear() {
        present = 0;
        octetsMax = 0;
        return this;
    }

    /// Makes a column null.
    public Row unset(Column column) {
        present &= ~(1L << column.fieldId());
        return this;
    }

    public boolean has(Column column) {
        return (present >>> column.fieldId() & 1) != 0;
    }

    /// The field ids of the non-null columns, as a bit mask.
    public long presentMask() {
        return present;
    }

    /// An upper bound of the total length of the STRING, BYTES and STRING_LIST columns.
    long octetsMax() {
        return octetsMax;
    }

    /// The value of an INT or LONG column that is not null.
    public long number(Column column) {
        return numbers[column.fieldId()];
    }

    /// The array that holds a STRING, BYTES or STRING_LIST column's octets; see [#offset] and [#length].
    public byte[] array(Column column) {
        return octets[column.fieldId()];
    }

    public int offset(Column column) {
        return offsets[column.fieldId()];
    }

    public int length(Column column) {
        return lengths[column.fieldId()];
    }

    /// A copy of a STRING or BYTES column.
    public Text text(Column column) {
        return Text.copyOf(array(column), offset(column), length(column));
    }

    /// A copy of a STRING_LIST column's elements.
    public List<Text> list(Column column) {
        var elements = new ArrayList<Text>();
        var cursor = new ListCursor(this, column);
        while (cursor.next()) {
            elements.add(Text.copyOf(cursor.array(), cursor.offset(), cursor.length()));
        }
        return elements;
    }

    /// Sets an INT or LONG column.
    ///
    /// @throws IllegalArgumentException when an INT column is given more than 32 bits
    public Row set(Column column, long value) {
        if (column.type() == ColumnType.INT && value != (int) value) {
            throw new IllegalArgumentException(column + " holds 32 bits, not " + value);
        }
        numbers[column.fieldId()] = value;
        present |= 1L << column.fieldId();
        return this;
    }

    /// Sets a STRING or BYTES column to a slice, which must stay unchanged while this row is used.
    public Row set(Column column, byte[] array, int offset, int length) {
        int i = column.fieldId();
        octets[i] = array;
        offsets[i] = offset;
        lengths[i] = length;
        octetsMax += length;
        present |= 1L << i;
        return this;
    }

    /// Sets a STRING or BYTES column.
    public Row set(Column column, Text text) {
        return set(column, text.octets(), 0, text.length());
    }

    /// Sets a STRING column.
    public Row set(Column column, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return set(column, utf8, 0, utf8.length);
    }

    /// Sets a STRING_LIST column.
    public Row set(Column column, List<Text> elements) {
        int size = Varint.size(elements.size());
        for (Text element : elements) {
            size += Varint.size(element.length()) + element.length();
        }
        var encoded = new byte[size];
        int at = Varint.put(encoded, 0, elements.size());
        for (Text element : elements) {
            at = Varint.put(encoded, at, element.length());
            System.arraycopy(element.octets(), 0, encoded, at, element.length());
            at += element.length();
        }
        return set(column, encoded, 0, size);
    }
}
