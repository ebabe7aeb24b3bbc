package blackbox.evidence.bundle;

import blackbox.evidence.storage.LocalStore;
import blackbox.evidence.storage.StoredFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/// The end of a ZIP (PKWARE's APPNOTE, 4.3.14 to 4.3.16), which says how long its directory is: Java reads that into
/// memory whole, whatever its length.
final class ZipEnd {
    private static final int END_BYTES = 22;
    private static final int END_MAGIC = 0x06054b50;
    private static final int LOCATOR_BYTES = 20;
    private static final int LOCATOR_MAGIC = 0x07064b50;
    private static final int END64_BYTES = 56;
    private static final int END64_MAGIC = 0x06064b50;
    private static final long IN_END64 = 0xffffffffL;

    /// An entry's fixed part, a name, and sizes and a place beyond 4 GiB.
    private static final long ENTRY_BYTES_MAX = 46 + BundleLayout.NAME_CHARACTERS_MAX + 32;

    static final long DIRECTORY_BYTES_MAX = BundleLayout.FILES_MAX * ENTRY_BYTES_MAX;

    private ZipEnd() {}

    /// Refuses a ZIP whose directory is longer than that of a bundle can be.
    ///
    /// @throws MalformedBundleException when it is, or when a comment or anything else follows the ZIP's end
    static void check(Path zip) throws IOException, MalformedBundleException {
        try (StoredFile file = LocalStore.file(zip)) {
            long endAt = file.size() - END_BYTES;
            ByteBuffer end = read(file, endAt, END_BYTES);
            if (end.getInt(0) != END_MAGIC || end.getShort(20) != 0) {
                throw new MalformedBundleException("it cannot be read as a ZIP: it does not end as one");
            }
            long stated = end.getInt(12) & IN_END64;
            if (stated != IN_END64) {
                require(stated);
            }
            ByteBuffer locator = read(file, endAt - LOCATOR_BYTES, LOCATOR_BYTES);
            if (locator.getInt(0) == LOCATOR_MAGIC) {
                ByteBuffer end64 = read(file, locator.getLong(8), END64_BYTES);
                require(end64.getInt(0) == END64_MAGIC ? end64.getLong(40) : 0);
            }
        }
    }

    private static void require(long directoryBytes) throws MalformedBundleException {
        if (directoryBytes < 0 || directoryBytes > DIRECTORY_BYTES_MAX) {
            throw new MalformedBundleException(
                    "its directory is longer than that of " + BundleLayout.FILES_MAX + " files");
        }
    }

    /// Zeros where the file has no such octets.
    private static ByteBuffer read(StoredFile file, long at, int count) throws IOException {
        ByteBuffer octets = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
        if (at >= 0 && at <= file.size() - count) {
            file.read(at, octets);
        }
        return octets.clear();
    }
}
