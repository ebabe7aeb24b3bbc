package blackbox.replay.sqlite;

import java.nio.ByteBuffer;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// The first 100 octets of a database file (SQLite, "Database File Format", 1.3).
///
/// @param octets of the whole file
record DatabaseHeader(ByteBuffer octets) {
    static final int BYTES = 100;
    private static final int PAGE_BYTES = 16;
    private static final int RESERVED = 20;
    private static final int FRACTIONS = 21;
    private static final int CHANGES = 24;
    private static final int PAGES = 28;
    private static final int LARGEST_ROOT = 52;
    private static final int ENCODING = 56;
    private static final int VALID_FOR = 92;
    private static final int USABLE_MIN = 480;

    /// What a reader can ask for, or needs to read the file. Not among these: the counter of changes and for which of
    /// them the number of pages holds, that number, and the free pages.
    enum Field {
        PAGE_SIZE(PAGE_BYTES, 2),
        /// Whether the database is in WAL mode.
        WRITE_VERSION(18, 1),
        READ_VERSION(19, 1),
        RESERVED_OCTETS(RESERVED, 1),
        SCHEMA_VERSION(40, 4),
        SCHEMA_FORMAT(44, 4),
        DEFAULT_CACHE_SIZE(48, 4),
        TEXT_ENCODING(ENCODING, 4),
        USER_VERSION(60, 4),
        INCREMENTAL_VACUUM(64, 4),
        APPLICATION_ID(68, 4),
        /// Of the library that wrote last.
        LIBRARY_VERSION(96, 4);

        private final int at;
        private final int bytes;

        Field(int at, int bytes) {
            this.at = at;
            this.bytes = bytes;
        }
    }

    /// Checks it.
    static DatabaseHeader of(byte[] file) throws DamagedDatabaseException {
        DamagedDatabaseException.require(file.length >= BYTES, "it is shorter than a header");
        var header = new DatabaseHeader(ByteBuffer.wrap(file).asReadOnlyBuffer());
        int page = header.pageBytes();
        DamagedDatabaseException.require(
                page >= 512 && Integer.bitCount(page) == 1 && file.length % page == 0,
                "it does not consist of whole pages");
        DamagedDatabaseException.require(header.usableBytes() >= USABLE_MIN, "its pages hold too little");
        DamagedDatabaseException.require(
                file[FRACTIONS] == 64 && file[FRACTIONS + 1] == 32 && file[FRACTIONS + 2] == 32,
                "its header is not one of version 3");
        int encoding = header.octets.getInt(ENCODING);
        DamagedDatabaseException.require(encoding >= 0 && encoding <= 3, "its encoding is not known");
        boolean counted = header.octets.getInt(CHANGES) == header.octets.getInt(VALID_FOR);
        DamagedDatabaseException.require(
                !counted || header.octets.getInt(PAGES) == 0 || header.octets.getInt(PAGES) == file.length / page,
                "it does not have as many pages as it says");
        return header;
    }

    int pageBytes() {
        int bytes = octets.getShort(PAGE_BYTES) & 0xffff;
        return bytes == 1 ? 65_536 : bytes;
    }

    int pages() {
        return octets.capacity() / pageBytes();
    }

    /// Of each page.
    int usableBytes() {
        return pageBytes() - (octets.get(RESERVED) & 0xff);
    }

    Charset encoding() {
        return switch (octets.getInt(ENCODING)) {
            case 2 -> StandardCharsets.UTF_16LE;
            case 3 -> StandardCharsets.UTF_16BE;
            default -> StandardCharsets.UTF_8;
        };
    }

    long value(Field field) {
        long value = 0;
        for (int i = field.at; i < field.at + field.bytes; i++) {
            value = value << 8 | octets.get(i) & 0xff;
        }
        return value;
    }

    /// Whether pages say to which tree they belong, so that free ones can be cut off.
    boolean isVacuumedByItself() {
        return octets.getInt(LARGEST_ROOT) != 0;
    }

    /// What is kept for later versions.
    boolean isFutureLike(DatabaseHeader other) {
        var mine = new byte[VALID_FOR - 72];
        var theirs = new byte[VALID_FOR - 72];
        octets.get(72, mine);
        other.octets.get(72, theirs);
        return Arrays.equals(mine, theirs);
    }
}
