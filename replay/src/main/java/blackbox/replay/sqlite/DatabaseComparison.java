package blackbox.replay.sqlite;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Origins;
import blackbox.replay.sqlite.DatabaseHeader.Field;
import blackbox.replay.sqlite.DatabaseMatch.Different;
import blackbox.replay.sqlite.DatabaseMatch.Same;
import blackbox.replay.sqlite.Schema.Item;
import blackbox.replay.sqlite.TreeEntries.Entry;
import blackbox.replay.sqlite.Values.Value;
import blackbox.schemas.Hash;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One comparison of two databases. Used once, by one thread.
final class DatabaseComparison {
    private static final String NONE = "nothing";

    private final Database recorded;
    private final Database actual;
    private final Origins origins;
    private final Consumer<ContentMatch> tied;
    private int tries = DatabaseMatch.TIED_MAX;
    private @Nullable Different first;

    DatabaseComparison(Database recorded, Database actual, Origins origins, Consumer<ContentMatch> tied) {
        this.recorded = recorded;
        this.actual = actual;
        this.origins = origins;
        this.tied = tied;
    }

    /// Also what comes after the first difference is read: a file that is damaged there is no database.
    DatabaseMatch match() throws DamagedDatabaseException, IOException {
        header(recorded.header(), actual.header());
        Schema one = Schema.of(recorded);
        Schema other = Schema.of(actual);
        for (int i = 0; i < Math.max(one.items().size(), other.items().size()); i++) {
            Item item = one.at(i);
            Item beside = other.at(i);
            if (item == null || beside == null || !item.isSame(beside)) {
                differ(
                        "the schema",
                        item == null ? NONE : item.title() + ", row " + item.rowid(),
                        beside == null ? NONE : beside.title() + ", row " + beside.rowid());
            }
            if (first != null) {
                read(recorded, item);
                read(actual, beside);
            } else if (item != null && beside != null && item.root() != 0) {
                trees(item, beside);
            }
        }
        return first == null ? new Same() : first;
    }

    private void differ(String where, String expected, String found) {
        first = first == null ? new Different(where, expected, found) : first;
    }

    private void header(DatabaseHeader one, DatabaseHeader other) {
        for (Field field : Field.values()) {
            if (one.value(field) != other.value(field)) {
                String name = field.name().toLowerCase(Locale.ROOT);
                differ("the header's " + name, Long.toString(one.value(field)), Long.toString(other.value(field)));
            }
        }
        if (one.isVacuumedByItself() != other.isVacuumedByItself()) {
            differ(
                    "auto_vacuum",
                    Boolean.toString(one.isVacuumedByItself()),
                    Boolean.toString(other.isVacuumedByItself()));
        }
        if (!one.isFutureLike(other)) {
            differ("the header", "octets that are kept for later versions", "others");
        }
    }

    private static void read(Database database, @Nullable Item item) throws DamagedDatabaseException {
        if (item != null && item.root() != 0) {
            rest(new TreeEntries(database, item.root()));
        }
    }

    private static void rest(TreeEntries entries) throws DamagedDatabaseException {
        while (entries.next() != null) {}
    }

    private void trees(Item item, Item beside) throws DamagedDatabaseException, IOException {
        var one = new TreeEntries(recorded, item.root());
        var other = new TreeEntries(actual, beside.root());
        if (one.isTable() != other.isTable()) {
            differ(item.title(), one.isTable() ? "rows" : "entries", other.isTable() ? "rows" : "entries");
        }
        long number = 0;
        Entry row = one.next();
        Entry found = other.next();
        while (first == null && (row != null || found != null)) {
            number++;
            boolean there = row != null && found != null && row.rowid() == found.rowid();
            if (row != null && found != null && there) {
                values(place(item, one.isTable(), row.rowid(), number), row.payload(), found.payload());
            } else {
                missing(item, one.isTable(), number, row, found);
            }
            row = one.next();
            found = other.next();
        }
        rest(one);
        rest(other);
    }

    private static String place(Item item, boolean table, long rowid, long number) {
        return item.title() + (table ? ", row " + rowid : ", entry " + number);
    }

    private void missing(Item item, boolean table, long number, @Nullable Entry row, @Nullable Entry found) {
        boolean extra = row == null || found != null && found.rowid() < row.rowid();
        Entry here = extra ? found : row;
        if (here != null) {
            String where = place(item, table, here.rowid(), number);
            String record = "a record of " + here.payload().length + " octets, SHA-256 " + Hash.sha256(here.payload());
            differ(where, extra ? NONE : record, extra ? record : NONE);
        }
    }

    private void values(String place, byte[] row, byte[] found) throws DamagedDatabaseException, IOException {
        if (Arrays.equals(row, found)) {
            return;
        }
        List<Value> one = Values.of(row);
        List<Value> other = Values.of(found);
        if (one.size() != other.size()) {
            differ(place, one.size() + " values", other.size() + " values");
            return;
        }
        for (int i = 0; i < one.size(); i++) {
            Value value = one.get(i);
            Value beside = other.get(i);
            if (!value.isSame(beside) && !stand(value, beside)) {
                differ(place + ", value " + (i + 1), value.inWords(), beside.inWords());
                return;
            }
        }
    }

    /// Whether one value stands for the other.
    private boolean stand(Value value, Value beside) throws IOException {
        if (value.sort() != beside.sort() || tries-- <= 0) {
            return false;
        }
        ContentMatch match = ContentMatch.of(
                new ByteArrayInputStream(value.letters()), new ByteArrayInputStream(beside.letters()), origins);
        tied.accept(match);
        return match.difference() == null;
    }
}
