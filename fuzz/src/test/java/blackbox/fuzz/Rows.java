package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.query.answer.EventJson;
import blackbox.query.answer.EventLine;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.answer.Whose;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.ColumnType;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventViews;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;

/// What becomes of an event whose values somebody hostile chose: sealed as a leaf, read again, shown.
final class Rows {
    private static final JsonFactory JSON = new JsonFactory();

    private final Row row = new Row();
    private final Row again = new Row();
    private final EventViews views = new EventViews();
    private final TouchedCollector touched = new TouchedCollector(Whose.ALL);
    private long index;

    /// Takes an event from a recorder.
    void take(Event event) throws IOException {
        EventRows.fill(event, row);
        int size = LeafCodec.size(row);
        ensure(size <= LeafCodec.BYTES_MAX, "a leaf of " + size + " octets");
        ensure(size <= LeafCodec.sizeMax(row), "a leaf is longer than its bound");
        var leaf = new byte[size];
        ensure(LeafCodec.encode(row, leaf, 0) == size, "a leaf has another length than was said");
        ensure(LeafCodec.decode(leaf, 0, size, again), "a leaf that was encoded does not decode");
        ensure(Arrays.equals(leaf, encoded(again)), "a decoded leaf encodes to something else");
        show(again);
    }

    /// The leaf of an event.
    static byte[] leaf(Event event) {
        var row = new Row();
        EventRows.fill(event, row);
        return encoded(row);
    }

    /// Takes a leaf from a store; false if it is none.
    boolean take(byte[] leaf) throws IOException {
        if (!LeafCodec.decode(leaf, 0, leaf.length, row)) {
            return false;
        }
        ensure(Arrays.equals(leaf, encoded(row)), "a decoded leaf encodes to something else");
        show(row);
        return true;
    }

    private static byte[] encoded(Row row) {
        var leaf = new byte[LeafCodec.size(row)];
        LeafCodec.encode(row, leaf, 0);
        return leaf;
    }

    /// Shows a row as queries do.
    void show(Row row) throws IOException {
        touched.see(views.of(row), index);
        ensure(!EventLine.format(index, row).isEmpty(), "a line is empty");
        for (Column column : Column.values()) {
            if (row.has(column) && column.type() == ColumnType.STRING_LIST) {
                int length = row.list(column).stream().mapToInt(Text::length).sum();
                ensure(length <= row.length(column), "a list's elements are longer than the list");
            }
        }
        try (JsonGenerator out = JSON.createGenerator(OutputStream.nullOutputStream())) {
            EventJson.write(out, index, row);
        }
        index++;
    }
}
