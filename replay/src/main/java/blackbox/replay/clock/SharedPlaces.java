package blackbox.replay.clock;

import blackbox.replay.divergence.text.GenerationalCache;
import blackbox.replay.divergence.text.KeyedHash;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Where the agent's events are among what one side did, in numbers that the other side's equal events have too: a
/// process by its parent and how many that had forked before, a deed by its process, what it was, and how often it had
/// been done there before. Found as events arrive, in bounded memory; what has been forgotten has no place any more, or
/// one that nothing equals. Owned by one thread.
final class SharedPlaces {
    /// No place: not a deed of the agent's, or one whose time is not that of the deed.
    static final long NONE = 0;

    private static final int PROCESSES_MAX = 1 << 14;
    private static final int COUNTED_MAX = 1 << 16;
    private static final long ROOT = 21;
    private static final long CHILD = 22;
    private static final List<Column> CONTENT = List.of(
            Column.RET,
            Column.EXIT_CODE,
            Column.SIGNAL,
            Column.EXE,
            Column.ARGV,
            Column.PATH,
            Column.PATH_TO,
            Column.PROTOCOL,
            Column.REMOTE_IP,
            Column.WHAT);

    private final KeyedHash hash;
    private final GenerationalCache counted = new GenerationalCache(COUNTED_MAX);
    private final Map<Long, Forker> processes = new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Forker> eldest) {
            return size() > PROCESSES_MAX;
        }
    };
    private long roots;

    private static final class Forker {
        private final long place;
        private long forks;

        Forker(long place) {
            this.place = place;
        }
    }

    SharedPlaces(KeyedHash hash) {
        this.hash = hash;
    }

    /// Its place, or [#NONE].
    long of(Row row) {
        if (!SharedTimes.isTimed(row) || !row.has(Column.PID) || !row.has(Column.START_NS)) {
            return NONE;
        }
        long place = hash.mix(process(row).place, content(row));
        return hash.mix(place, counted.count(place));
    }

    private Forker process(Row row) {
        long id = id(row.number(Column.PID), row.number(Column.START_NS));
        Forker known = processes.get(id);
        if (known == null) {
            Forker parent = parent(row);
            known = new Forker(
                    parent == null ? hash.mix(ROOT, ++roots) : hash.mix(parent.place, CHILD, ++parent.forks));
            processes.put(id, known);
        }
        return known;
    }

    private @Nullable Forker parent(Row row) {
        return row.number(Column.KIND) == Kind.PROCESS_FORK.code()
                        && row.has(Column.PPID)
                        && row.has(Column.PARENT_START_NS)
                ? processes.get(id(row.number(Column.PPID), row.number(Column.PARENT_START_NS)))
                : null;
    }

    private static long id(long pid, long startNs) {
        return startNs << 22 ^ startNs >>> 42 ^ pid;
    }

    private long content(Row row) {
        long total = row.number(Column.KIND);
        for (Column column : CONTENT) {
            if (row.has(column)) {
                total = hash.mix(total, column.fieldId(), value(row, column));
            }
        }
        return total;
    }

    private long value(Row row, Column column) {
        return switch (column.type()) {
            case INT, LONG -> column == Column.RET ? Math.min(row.number(column), 0) : row.number(column);
            case STRING, BYTES, STRING_LIST -> octets(row.array(column), row.offset(column), row.length(column));
        };
    }

    private long octets(byte[] array, int offset, int length) {
        long total = length;
        long word = 0;
        for (int i = 0; i < length; i++) {
            word = word << 8 | array[offset + i] & 0xff;
            if ((i & 7) == 7) {
                total = hash.mix(total, word);
                word = 0;
            }
        }
        return hash.mix(total, word);
    }
}
