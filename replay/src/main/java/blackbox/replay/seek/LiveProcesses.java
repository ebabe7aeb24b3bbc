package blackbox.replay.seek;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.evidence.text.Printable;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.util.SortedMap;
import java.util.TreeMap;

/// The processes that live at an event, by the recorded events up to it. What the tracer lost is not among them.
public final class LiveProcesses {

    private LiveProcesses() {}

    /// By process id: the program, or the name where no program is known.
    public static SortedMap<Long, String> at(Recordings recordings, RunId run, long index) throws IOException {
        var live = new TreeMap<Long, String>();
        try (RunReader reader = RunReader.open(recordings, run, 0)) {
            while (reader.next() && reader.index() <= index) {
                Row row = reader.row();
                Kind kind = Kind.ofCode(row.number(Column.KIND));
                if (kind != null && row.has(Column.PID)) {
                    take(live, kind, row);
                }
            }
        }
        return live;
    }

    private static void take(SortedMap<Long, String> live, Kind kind, Row row) {
        long pid = row.number(Column.PID);
        switch (kind) {
            case PROCESS_EXEC -> {
                if (!row.has(Column.RET) || row.number(Column.RET) == 0) {
                    live.put(pid, text(row, Column.EXE));
                }
            }
            case PROCESS_RUNNING -> live.put(pid, text(row, Column.EXE));
            case PROCESS_FORK -> live.put(pid, text(row, Column.COMM));
            case PROCESS_EXIT -> live.remove(pid);
            default -> {}
        }
    }

    private static String text(Row row, Column column) {
        if (row.has(column)) {
            return Printable.of(row.text(column).toString());
        }
        return row.has(Column.COMM) ? Printable.of(row.text(Column.COMM).toString()) : "?";
    }
}
