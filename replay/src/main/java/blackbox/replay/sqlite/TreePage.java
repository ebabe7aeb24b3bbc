package blackbox.replay.sqlite;

import static blackbox.replay.sqlite.DamagedDatabaseException.require;

import java.nio.ByteBuffer;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// One page of a b-tree (SQLite, "Database File Format", 1.6).
final class TreePage {
    private static final int INTERIOR_INDEX = 2;
    private static final int INTERIOR_TABLE = 5;
    private static final int LEAF_INDEX = 10;
    private static final int LEAF_TABLE = 13;
    private static final int POINTER_BYTES = 4;

    private final Database database;
    private final ByteBuffer octets;
    private final int type;
    private final int pointers;
    private final int count;
    private final long rightmost;
    /// Octets that belong to a cell, or are before all cells.
    private final BitSet taken = new BitSet();

    /// One cell.
    ///
    /// @param child the page to the left; 0 in a leaf
    /// @param key the rowid; 0 in an index
    /// @param payload null in the inner pages of a table
    record Cell(long child, long key, byte @Nullable [] payload) {}

    TreePage(Database database, long number) throws DamagedDatabaseException {
        this.database = database;
        this.octets = database.page(number);
        int at = number == 1 ? DatabaseHeader.BYTES : 0;
        type = octets.get(at);
        require(
                type == INTERIOR_INDEX || type == INTERIOR_TABLE || type == LEAF_INDEX || type == LEAF_TABLE,
                "page " + number + " is of no tree");
        count = octets.getShort(at + 3) & 0xffff;
        pointers = at + (isLeaf() ? 8 : 12);
        rightmost = isLeaf() ? 0 : octets.getInt(at + 8) & 0xffff_ffffL;
        require(pointers + 2 * count <= octets.capacity(), "page " + number + " has more cells than fit");
        taken.set(0, pointers + 2 * count);
    }

    boolean isLeaf() {
        return type == LEAF_INDEX || type == LEAF_TABLE;
    }

    boolean isTable() {
        return type == INTERIOR_TABLE || type == LEAF_TABLE;
    }

    /// How many cells it has.
    int count() {
        return count;
    }

    /// The page to the right of all cells; 0 in a leaf.
    long rightmost() {
        return rightmost;
    }

    /// A cell, each of which may be asked for once.
    Cell cell(int number) throws DamagedDatabaseException {
        int at = octets.getShort(pointers + 2 * number) & 0xffff;
        var varints = new Varints(octets, at, octets.capacity());
        long child = 0;
        if (!isLeaf()) {
            child = varints.fixed(POINTER_BYTES);
        }
        if (isTable() && !isLeaf()) {
            long key = varints.next();
            take(at, varints.at());
            return new Cell(child, key, null);
        }
        long bytes = varints.next();
        long key = isTable() ? varints.next() : 0;
        require(bytes >= 0 && bytes <= database.payloadBytesMax(), "a payload is too long");
        int local = local((int) bytes);
        int end = varints.at() + local + (local < bytes ? POINTER_BYTES : 0);
        take(at, end);
        var payload = new byte[(int) bytes];
        octets.get(varints.at(), payload, 0, local);
        if (local < bytes) {
            database.overflow(octets.getInt(end - POINTER_BYTES) & 0xffff_ffffL, payload, local);
        }
        return new Cell(child, key, payload);
    }

    private void take(int from, int to) throws DamagedDatabaseException {
        int next = taken.nextSetBit(from);
        require(to <= octets.capacity() && (next < 0 || next >= to), "two cells of a page overlap");
        taken.set(from, to);
    }

    /// How many octets of a payload are in the page itself.
    private int local(int bytes) {
        int usable = octets.capacity();
        int most = isTable() ? usable - 35 : (usable - 12) * 64 / 255 - 23;
        if (bytes <= most) {
            return bytes;
        }
        int least = (usable - 12) * 32 / 255 - 23;
        int some = least + (bytes - least) % (usable - 4);
        return some <= most ? some : least;
    }
}
