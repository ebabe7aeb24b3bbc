package blackbox.replay.sqlite;

import static blackbox.replay.sqlite.DamagedDatabaseException.require;

import blackbox.replay.sqlite.TreePage.Cell;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/// The rows of a table in the order of their rowids, or the entries of an index in theirs. Rowids have to rise, also
/// across pages and past the keys between these; the order of an index depends on functions that only its program has,
/// and is taken as it is. Owned by one thread.
final class TreeEntries {
    /// SQLite itself goes no deeper.
    private static final int DEPTH_MAX = 20;

    private final Database database;
    /// The way down, the innermost first.
    private final Deque<Level> levels = new ArrayDeque<>();
    private final boolean table;
    private @Nullable Long last;

    /// A row or an entry.
    ///
    /// @param rowid 0 in an index
    record Entry(long rowid, byte[] payload) {}

    private static final class Level {
        private final TreePage page;
        private int next;
        /// The cell before which its child is read.
        private @Nullable Cell pending;

        Level(TreePage page) {
            this.page = page;
        }
    }

    /// @param root its page
    TreeEntries(Database database, long root) throws DamagedDatabaseException {
        this.database = database;
        var page = new TreePage(database, root);
        require(page.isLeaf() || page.count() > 0 || root == 1, "a tree's root has no cells");
        table = page.isTable();
        levels.push(new Level(page));
    }

    /// Whether it has rows with rowids.
    boolean isTable() {
        return table;
    }

    /// The next one, or null.
    @Nullable
    Entry next() throws DamagedDatabaseException {
        for (Level here = levels.peek(); here != null; here = levels.peek()) {
            Entry found = here.page.isLeaf() ? leaf(here) : interior(here);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private @Nullable Entry leaf(Level here) throws DamagedDatabaseException {
        if (here.next == here.page.count()) {
            levels.pop();
            return null;
        }
        Cell cell = here.page.cell(here.next++);
        if (table) {
            require(last == null || cell.key() > last, "rowids do not rise");
            last = cell.key();
        }
        return entry(cell);
    }

    /// Goes one step on: to a child, or to what is right of it.
    private @Nullable Entry interior(Level here) throws DamagedDatabaseException {
        Cell cell = here.pending;
        if (cell != null) {
            here.pending = null;
            if (!table) {
                return entry(cell);
            }
            require(last == null || cell.key() >= last, "a row is on the wrong side of a key");
            last = cell.key();
        }
        if (here.next < here.page.count()) {
            here.pending = here.page.cell(here.next++);
            enter(here.pending.child());
        } else if (here.next == here.page.count()) {
            here.next++;
            enter(here.page.rightmost());
        } else {
            levels.pop();
        }
        return null;
    }

    private void enter(long child) throws DamagedDatabaseException {
        require(levels.size() < DEPTH_MAX, "a tree is too deep");
        var page = new TreePage(database, child);
        require(page.isTable() == table, "a page is of another kind of tree");
        require(page.count() > 0, "a page below a root has no cells");
        levels.push(new Level(page));
    }

    private static Entry entry(Cell cell) throws DamagedDatabaseException {
        byte[] payload = cell.payload();
        if (payload == null) {
            throw new DamagedDatabaseException("a row has no payload");
        }
        return new Entry(cell.key(), payload);
    }
}
