package blackbox.evidence.verify;

import blackbox.evidence.parquet.EventFileReader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.ListCursor;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.EventsTable;

/// Rows whose leaf is kept raw: the columns must agree with the raw leaf, or a query would answer something
/// other than what was sealed.
final class RawLeaf {

    private final Row decoded = new Row();

    /// Whether the file's current row is what its writer could show of the leaf `raw`: the same values, with
    /// U+FFFD for what is not UTF-8, and null for a code for which the writer had no name. For a leaf of a
    /// form that is unknown here, or was unknown to the writer, it must show nothing.
    boolean isShownBy(byte[] raw, EventFileReader file) {
        Row columns = file.row();
        if (!LeafCodec.decode(raw, 0, raw.length, decoded)) {
            decoded.clear();
            return columns.presentMask() == 0;
        }
        if ((decoded.presentMask() & ~file.columnMask()) != 0) {
            return columns.presentMask() == 0;
        }
        for (Column column : Column.values()) {
            if (!isShown(column, columns, file)) {
                return false;
            }
        }
        return true;
    }

    /// Whether the leaf, as this version reads it, holds something that the file's writer did not know and so
    /// could not show.
    boolean saysMoreThan(EventFileReader file) {
        boolean kindless = decoded.has(Column.KIND)
                && !file.row().has(Column.KIND)
                && Kind.ofCode(decoded.number(Column.KIND)) != null;
        return kindless || (decoded.presentMask() & ~file.columnMask()) != 0;
    }

    /// The leaf's content, after [#isShownBy]; empty if it is of an unknown form.
    Row row() {
        return decoded;
    }

    private boolean isShown(Column column, Row columns, EventFileReader file) {
        boolean nameless =
                EventsTable.storedByName(column) && decoded.has(column) && !file.names(column, decoded.number(column));
        if (!decoded.has(column) || nameless) {
            return !columns.has(column);
        }
        if (!columns.has(column)) {
            return false;
        }
        return switch (column.type()) {
            case INT, LONG -> decoded.number(column) == columns.number(column);
            case BYTES -> decoded.text(column).equals(columns.text(column));
            case STRING -> shown(decoded.text(column)).equals(columns.text(column));
            case STRING_LIST -> sameLists(column, columns);
        };
    }

    private boolean sameLists(Column column, Row columns) {
        var sealed = new ListCursor(decoded, column);
        var stored = new ListCursor(columns, column);
        while (sealed.next()) {
            Text element = Text.copyOf(sealed.array(), sealed.offset(), sealed.length());
            if (!stored.next()
                    || !shown(element).equals(Text.copyOf(stored.array(), stored.offset(), stored.length()))) {
                return false;
            }
        }
        return !stored.next();
    }

    private static Text shown(Text octets) {
        return Text.of(octets.toString());
    }
}
