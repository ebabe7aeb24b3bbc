package blackbox.cli.replay;

import blackbox.query.answer.EventLine;
import blackbox.query.store.Recordings;
import blackbox.query.store.RunReader;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// The recorded events of a run as frames of its tracer: only these have an instruction of the guest's.
///
/// @param seq the frame's number
/// @param index the event's
/// @param line the event, for people
record FrameLookup(long seq, long index, String line) {

    /// The last frame at or before an event.
    static FrameLookup at(Recordings recordings, RunId run, long index) throws IOException, ReplayException {
        FrameLookup found = null;
        try (RunReader reader = RunReader.open(recordings, run, 0)) {
            while (reader.next() && (reader.index() <= index || found == null)) {
                Row row = reader.row();
                if (row.has(Column.CPU_SEQ)) {
                    found = new FrameLookup(
                            row.number(Column.CPU_SEQ), reader.index(), EventLine.format(reader.index(), row));
                }
            }
        }
        if (found == null) {
            throw new ReplayException(Code.BAD_INPUT, "run " + run + " has no event of the guest's to land at");
        }
        return found;
    }

    /// The next frame behind an event, of `kind` when one is given; null when there is none.
    static @Nullable FrameLookup behind(Recordings recordings, RunId run, long index, @Nullable Kind kind)
            throws IOException {
        try (RunReader reader = RunReader.open(recordings, run, index + 1)) {
            while (reader.next()) {
                Row row = reader.row();
                boolean wanted = kind == null || row.number(Column.KIND) == kind.code();
                if (wanted && row.has(Column.CPU_SEQ)) {
                    return new FrameLookup(
                            row.number(Column.CPU_SEQ), reader.index(), EventLine.format(reader.index(), row));
                }
            }
        }
        return null;
    }
}
