package blackbox.replay.sqlite;

import static blackbox.replay.sqlite.DamagedDatabaseException.require;

import java.nio.ByteBuffer;
import java.util.BitSet;

/// The pages of a database file. A page belongs to one tree or one chain, at one place: one that is met again is the
/// end
/// of reading. Owned by one thread.
final class Database {
    private static final int PAYLOAD_BYTES_MAX = 16 << 20;

    private final DatabaseHeader header;
    private final ByteBuffer octets;
    private final BitSet met = new BitSet();

    private Database(DatabaseHeader header) {
        this.header = header;
        this.octets = header.octets();
    }

    /// @param file the whole, not changed afterwards
    static Database of(byte[] file) throws DamagedDatabaseException {
        return new Database(DatabaseHeader.of(file));
    }

    DatabaseHeader header() {
        return header;
    }

    /// The usable octets of a page, which may be asked for once.
    ///
    /// @param number from 1
    ByteBuffer page(long number) throws DamagedDatabaseException {
        require(number >= 1 && number <= header.pages(), "it has no page " + number);
        require(!met.get((int) number), "page " + number + " is in two places");
        met.set((int) number);
        return octets.slice((int) (number - 1) * header.pageBytes(), header.usableBytes());
    }

    /// Fills what is left of a payload from a chain of pages.
    ///
    /// @param from where to go on in `payload`
    void overflow(long first, byte[] payload, int from) throws DamagedDatabaseException {
        long next = first;
        int at = from;
        while (at < payload.length) {
            ByteBuffer page = page(next);
            int count = Math.min(payload.length - at, page.capacity() - 4);
            page.get(4, payload, at, count);
            at += count;
            next = page.getInt(0) & 0xffff_ffffL;
        }
        require(next == 0, "a chain of pages is longer than what it holds");
    }

    /// A longer payload is not read, for it is in memory several times.
    int payloadBytesMax() {
        return Math.min(octets.capacity(), PAYLOAD_BYTES_MAX);
    }
}
