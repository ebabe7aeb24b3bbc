package blackbox.replay.sqlite;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Origins;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Consumer;

/// How two database files compare in what they say: the fields of their headers that a reader can see, the schema, each
/// table's rows under their rowids, and each index's entries in their order.
///
/// Layout, which does not count: on which page something is, also where the schema says so; the order of pages, their
/// number, free ones and what is still in these; how often and when the file was changed. A value may stand for another
/// one as in any file ([ContentMatch]); numbers are compared by their decimal digits.
///
/// A `-wal` or `-journal` beside the file is not read: where one holds anything, the file alone does not say what the
/// database is, and the caller compares otherwise.
public sealed interface DatabaseMatch {
    /// The longest file that is read, since it is in memory as a whole. A longer one is not compared in this way.
    int BYTES_MAX = 64 << 20;

    /// What such a file begins with.
    int MAGIC_BYTES = 16;

    /// How many values may stand for others; further ones do not.
    int TIED_MAX = 1 << 16;

    /// One of them is no database that is understood, or contradicts itself.
    record Unknown() implements DatabaseMatch {}

    /// They say the same.
    record Same() implements DatabaseMatch {}

    /// They do not.
    ///
    /// @param where first, in words
    /// @param expected what is there in the recording, without what it says
    /// @param actual the same of the replay
    record Different(String where, String expected, String actual) implements DatabaseMatch {}

    /// Whether a file that begins with these octets may be one.
    static boolean mayBe(byte[] octets) {
        byte[] magic = "SQLite format 3\0".getBytes(StandardCharsets.US_ASCII);
        return octets.length >= MAGIC_BYTES && Arrays.equals(octets, 0, MAGIC_BYTES, magic, 0, MAGIC_BYTES);
    }

    /// Compares two whole files.
    ///
    /// @param tied is told in which values others stood for what differs
    static DatabaseMatch of(byte[] recorded, byte[] actual, Origins origins, Consumer<ContentMatch> tied)
            throws IOException {
        if (!mayBe(recorded) || !mayBe(actual)) {
            return new Unknown();
        }
        try {
            return new DatabaseComparison(Database.of(recorded), Database.of(actual), origins, tied).match();
        } catch (DamagedDatabaseException e) {
            return new Unknown();
        }
    }
}
