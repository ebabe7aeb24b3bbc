package blackbox.replay.files;

import blackbox.replay.fs.FolderNames;
import blackbox.schemas.row.Text;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The folders that were looked into last, by inode number: at most [#FOLDERS_MAX], and of [#BYTES_MAX] octets of
/// memory together, as far as it is more than one. Owned by one thread.
final class ListedFolders {
    static final int FOLDERS_MAX = 512;
    static final long BYTES_MAX = 128 << 20;

    private final Map<Long, Listed> kept = new LinkedHashMap<>(64, 0.75f, true);
    private long bytes;

    private record Listed(Map<Text, Long> entries, long bytes) {}

    /// A folder's entries, or null if they are not kept.
    @Nullable
    Map<Text, Long> of(long folder) {
        Listed listed = kept.get(folder);
        return listed == null ? null : listed.entries;
    }

    /// Keeps a folder that is not kept yet.
    void keep(long folder, Map<Text, Long> entries) {
        var listed = new Listed(entries, FolderNames.bytesOf(entries));
        kept.put(folder, listed);
        bytes += listed.bytes;
        for (var eldest = kept.values().iterator();
                kept.size() > 1 && (kept.size() > FOLDERS_MAX || bytes > BYTES_MAX);
                eldest.remove()) {
            bytes -= eldest.next().bytes;
        }
    }

    /// About how many octets of memory they take.
    long bytes() {
        return bytes;
    }
}
