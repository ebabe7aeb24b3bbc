package blackbox.replay.sqlite;

import static blackbox.replay.sqlite.DamagedDatabaseException.require;

import blackbox.replay.sqlite.TreeEntries.Entry;
import blackbox.replay.sqlite.Values.Sort;
import blackbox.replay.sqlite.Values.Value;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The table on page 1: what tables, indexes, views and triggers there are.
record Schema(List<Item> items) {
    private static final int NAME_CHARS_MAX = 200;
    private static final int COLUMNS = 5;
    private static final int ITEMS_MAX = 20_000;
    private static final int ROOT = 3;

    /// One row.
    ///
    /// @param sort `table`, `index`, `view` or `trigger`
    /// @param rest type, name, the table's name and the SQL, which count
    /// @param root page of its tree, which is layout; 0 for none
    record Item(long rowid, String sort, String name, List<Value> rest, long root) {
        boolean isSame(Item other) {
            if (rowid != other.rowid || (root == 0) != (other.root == 0)) {
                return false;
            }
            for (int i = 0; i < rest.size(); i++) {
                if (!rest.get(i).isSame(other.rest.get(i))) {
                    return false;
                }
            }
            return true;
        }

        /// As in messages.
        String title() {
            return sort + " " + (name.length() <= NAME_CHARS_MAX ? name : name.substring(0, NAME_CHARS_MAX) + "…");
        }
    }

    static Schema of(Database database) throws DamagedDatabaseException {
        var entries = new TreeEntries(database, 1);
        require(entries.isTable(), "its first page is not a table");
        var items = new ArrayList<Item>();
        for (Entry row = entries.next(); row != null; row = entries.next()) {
            require(items.size() < ITEMS_MAX, "its schema has more than " + ITEMS_MAX + " rows");
            items.add(item(row, database.header().encoding()));
        }
        return new Schema(List.copyOf(items));
    }

    private static Item item(Entry row, Charset encoding) throws DamagedDatabaseException {
        List<Value> values = Values.of(row.payload());
        require(values.size() == COLUMNS, "its schema has rows of another kind");
        var rest = new ArrayList<>(values);
        Value root = rest.remove(ROOT);
        return new Item(
                row.rowid(),
                text(values.get(0), encoding),
                text(values.get(1), encoding),
                List.copyOf(rest),
                page(root));
    }

    private static String text(Value value, Charset encoding) {
        return new String(value.letters(), encoding);
    }

    private static long page(Value value) throws DamagedDatabaseException {
        if (value.sort() == Sort.NULL) {
            return 0;
        }
        require(value.sort() == Sort.INTEGER, "a root is no number");
        long number = Long.parseLong(new String(value.letters(), StandardCharsets.US_ASCII));
        require(number >= 0 && number != 1, "a root is no page of its own");
        return number;
    }

    /// The item at a place, or null beyond the end.
    @Nullable
    Item at(int place) {
        return place < items.size() ? items.get(place) : null;
    }
}
