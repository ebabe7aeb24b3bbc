package blackbox.query.answer;

import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Gathers what happened to each path. Calls that failed touch nothing.
final class FileCollector {

    /// Paths beyond this many are counted, not kept.
    static final int PATHS_MAX = 1_000_000;

    private static final long O_TRUNC = 01000;

    private final Map<Text, Use> uses = new LinkedHashMap<>();
    private long unkept;

    private static final class Use {
        boolean opened;
        boolean read;
        boolean written;
        boolean created;
        boolean deleted;
        boolean attributes;
        boolean mapped;
        long bytesRead;
        long bytesWritten;

        @Nullable
        Text renamedTo;
    }

    void see(Kind kind, Row row) {
        boolean failed = kind != Kind.FILE_IO && row.has(Column.RET) && row.number(Column.RET) < 0;
        if (!row.has(Column.PATH) || failed || !kind.eventName().startsWith("file.")) {
            return;
        }
        Use use = use(row, Column.PATH);
        if (use == null) {
            return;
        }
        switch (kind) {
            case FILE_OPEN -> open(use, row);
            case FILE_CLOSE -> use.opened = true;
            case FILE_IO -> io(use, row);
            case FILE_UNLINK, FILE_RMDIR -> use.deleted = true;
            case FILE_MKDIR, FILE_SYMLINK, FILE_MKNOD -> use.created = true;
            case FILE_CHMOD, FILE_CHOWN -> use.attributes = true;
            case FILE_TRUNCATE, FILE_ALLOCATE -> use.written = true;
            case FILE_MMAP -> use.mapped = true;
            case FILE_RENAME -> rename(use, row);
            case FILE_LINK -> created(row);
            default -> {}
        }
    }

    private static void open(Use use, Row row) {
        use.opened = true;
        use.created |= row.has(Column.CREATED) && row.number(Column.CREATED) == 1;
        use.written |= row.has(Column.FLAGS) && (row.number(Column.FLAGS) & O_TRUNC) != 0;
    }

    private static void io(Use use, Row row) {
        long reads = row.has(Column.READS) ? row.number(Column.READS) : 0;
        long writes = row.has(Column.WRITES) ? row.number(Column.WRITES) : 0;
        long bytesRead = row.has(Column.BYTES_READ) ? row.number(Column.BYTES_READ) : 0;
        long bytesWritten = row.has(Column.BYTES_WRITTEN) ? row.number(Column.BYTES_WRITTEN) : 0;
        use.opened = true;
        use.read |= reads > 0 || bytesRead > 0;
        use.written |= writes > 0 || bytesWritten > 0;
        use.bytesRead += bytesRead;
        use.bytesWritten += bytesWritten;
    }

    private void rename(Use use, Row row) {
        use.deleted = true;
        if (row.has(Column.PATH_TO)) {
            use.renamedTo = row.text(Column.PATH_TO);
            created(row);
        }
    }

    private void created(Row row) {
        Use target = row.has(Column.PATH_TO) ? use(row, Column.PATH_TO) : null;
        if (target != null) {
            target.created = true;
        }
    }

    private @Nullable Use use(Row row, Column column) {
        Text path = row.text(column);
        Use known = uses.get(path);
        if (known != null || row.length(column) == 0 || row.array(column)[row.offset(column)] != '/') {
            return known; // pipes, sockets and the like have no path that starts with a slash
        }
        if (uses.size() >= PATHS_MAX) {
            unkept++;
            return null;
        }
        var fresh = new Use();
        uses.put(path, fresh);
        return fresh;
    }

    List<Touched.FileUse> files() {
        var files = new ArrayList<Touched.FileUse>();
        uses.forEach((path, use) -> {
            var deeds = new Touched.FileDeeds(
                    use.opened, use.read, use.written, use.created, use.deleted, use.attributes, use.mapped);
            files.add(new Touched.FileUse(path, deeds, use.bytesRead, use.bytesWritten, use.renamedTo));
        });
        return files;
    }

    List<String> limits() {
        var limits = new ArrayList<String>();
        long mapped = uses.values().stream().filter(use -> use.mapped).count();
        if (mapped > 0) {
            limits.add(mapped
                    + " files were mapped for shared writing; what was written through the mappings was not seen");
        }
        if (unkept > 0) {
            limits.add("only the first " + PATHS_MAX + " paths are listed; " + unkept + " events named others");
        }
        return limits;
    }
}
