package blackbox.replay.disk;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The event that last changed each of some paths.
public final class LastWrites {
    private static final long O_TRUNC = 01000;

    private LastWrites() {}

    /// An event that changed a file.
    ///
    /// @param process its short name, or null where the event names none
    /// @param startNs with the pid the process's name within the run, or null
    public record Write(
            long index,
            long atNs,
            Kind kind,
            @Nullable Text process,
            @Nullable Long pid,
            @Nullable Long startNs) {}

    /// The last event that changed each path, up to and with the event `last`.
    static Map<Text, Write> find(Recordings recordings, RunId run, Set<Text> paths, long last) throws IOException {
        var writes = new HashMap<Text, Write>();
        try (RunReader reader = RunReader.open(recordings, run, 0)) {
            while (reader.next() && reader.index() <= last) {
                Row row = reader.row();
                Kind kind = Kind.ofCode(number(row, Column.KIND));
                if (kind == null || !row.has(Column.PATH) || !changes(kind, row)) {
                    continue;
                }
                for (Column column : new Column[] {Column.PATH, Column.PATH_TO}) {
                    Text path = changed(kind, row, column);
                    if (path != null && paths.contains(path)) {
                        writes.put(path, write(reader.index(), kind, row));
                    }
                }
            }
        }
        return writes;
    }

    private static @Nullable Text changed(Kind kind, Row row, Column column) {
        boolean unchanged = column == Column.PATH ? kind == Kind.FILE_LINK : !row.has(Column.PATH_TO);
        return unchanged ? null : row.text(column);
    }

    /// Calls that failed change nothing.
    private static boolean changes(Kind kind, Row row) {
        boolean failed = kind != Kind.FILE_IO && number(row, Column.RET) < 0;
        return !failed
                && switch (kind) {
                    case FILE_OPEN -> number(row, Column.CREATED) == 1 || (number(row, Column.FLAGS) & O_TRUNC) != 0;
                    case FILE_IO -> number(row, Column.WRITES) > 0 || number(row, Column.BYTES_WRITTEN) > 0;
                    case FILE_RENAME,
                            FILE_LINK,
                            FILE_UNLINK,
                            FILE_RMDIR,
                            FILE_MKDIR,
                            FILE_SYMLINK,
                            FILE_MKNOD,
                            FILE_CHMOD,
                            FILE_CHOWN,
                            FILE_TRUNCATE,
                            FILE_ALLOCATE -> true;
                    default -> false;
                };
    }

    private static long number(Row row, Column column) {
        return row.has(column) ? row.number(column) : 0;
    }

    private static Write write(long index, Kind kind, Row row) {
        return new Write(
                index,
                number(row, Column.AT_NS),
                kind,
                row.has(Column.COMM) ? row.text(Column.COMM) : null,
                row.has(Column.PID) ? Long.valueOf(row.number(Column.PID)) : null,
                row.has(Column.START_NS) ? Long.valueOf(row.number(Column.START_NS)) : null);
    }
}
