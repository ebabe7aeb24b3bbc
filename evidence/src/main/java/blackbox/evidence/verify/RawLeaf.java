package blackbox.evidence.verify;

import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.ListCursor;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.EventsTable;

/// Rows whose leaf is kept raw: the columns must be what the raw leaf shows, or a query would answer something
/// else than what was sealed.
final class RawLeaf {

    private final Row decoded = new Row();

    /// Whether `columns` are what a table shows of the leaf `raw`: the same values, with U+FFFD for what is not
    /// UTF-8, and nothing for a code without a name. A leaf of a form that is not known must show nothing.
    boolean isShownBy(byte[] raw, Row columns) {
        if (!LeafCodec.decode(raw, 0, raw.length, decoded)) {
            return columns.presentMask() == 0;
        }
        for (Column column : Column.values()) {
            if (!isShown(column, columns)) {
                return false;
            }
        }
        return true;
    }

    private boolean isShown(Column column, Row columns) {
        boolean nameless = EventsTable.storedByName(column)
                && decoded.has(column)
                && EventsTable.nameOf(column, decoded.number(column)) == null;
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
