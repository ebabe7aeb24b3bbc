package blackbox.replay.fs;

import blackbox.schemas.row.Text;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A folder's entries, names to inode numbers, in the order of the folder. What they take in memory is bounded.
public final class FolderNames {
    /// What an entry takes besides the octets of its name, as measured: the objects of name, number and map.
    static final int ENTRY_BYTES = 120;

    /// A million names of a dozen octets.
    static final long BYTES_MAX = 128 << 20;

    private final Map<Text, Long> names = new LinkedHashMap<>();
    private long bytes;

    /// Adds an entry and returns the inode number that its name had, or null.
    ///
    /// @throws DamagedTreeException when the folder has more names than are kept
    @Nullable
    Long put(Text name, long number) throws DamagedTreeException {
        bytes += ENTRY_BYTES + name.length();
        if (bytes > BYTES_MAX) {
            throw new DamagedTreeException("a folder has more than " + names.size() + " entries, which take more than "
                    + (BYTES_MAX >> 20) + " MiB of memory, the most that one folder may take here");
        }
        return names.put(name, number);
    }

    Map<Text, Long> map() {
        return names;
    }

    /// About how many octets of memory a folder's entries take.
    public static long bytesOf(Map<Text, Long> entries) {
        return entries.keySet().stream()
                .mapToLong(name -> ENTRY_BYTES + name.length())
                .sum();
    }
}
