package blackbox.replay.seek;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.answer.EventLine;
import blackbox.recorder.guest.StreamedFrame;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.SealedCapture;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/// The recorded events of a run as frames of its tracer: only these have a guest instruction.
///
/// @param seq the frame's number
/// @param index the event's index
/// @param line the event, for people
/// @param there what the execution in which it is looked for does at it, where that is another one and says it
///     otherwise: in another process, with other names
public record FrameLookup(
        long seq, long index, String line, @Nullable String there) {
    /// Frames are rarely more events apart than this.
    private static final long NEAR = 200;

    /// The last frame at or before an event; the run's first frame if there is none.
    public static FrameLookup at(Recordings recordings, RunId run, long index) throws IOException, ReplayException {
        for (long from = Math.max(0, index - NEAR); ; from = 0) {
            FrameLookup found = lookUp(recordings, run, from, index);
            if (found != null && (found.index() <= index || from == 0)) {
                return found;
            }
            if (from == 0) {
                throw new ReplayException(Code.BAD_INPUT, "run " + run + " has no guest event to stop at");
            }
        }
    }

    /// The last frame from `from` up to `index`, or else the first one after.
    private static @Nullable FrameLookup lookUp(Recordings recordings, RunId run, long from, long index)
            throws IOException {
        FrameLookup found = null;
        try (RunReader reader = RunReader.open(recordings, run, from)) {
            while (reader.next() && (reader.index() <= index || found == null)) {
                if (reader.row().has(Column.CPU_SEQ)) {
                    found = of(reader);
                }
            }
        }
        return found;
    }

    /// An event, with the number of a frame that another execution emits for it.
    ///
    /// @param stream that execution's frames
    /// @throws ReplayException `BAD_INPUT` when the run has no such event
    public static FrameLookup elsewhere(Recordings recordings, RunId run, long index, long seq, SealedCapture stream)
            throws IOException, ReplayException {
        try (RunReader reader = RunReader.open(recordings, run, index)) {
            if (reader.next() && reader.index() == index) {
                String here = act(reader.row());
                String there = act(stream, seq);
                return new FrameLookup(
                        seq,
                        index,
                        EventLine.format(index, reader.row()),
                        there == null || there.equals(here) ? null : there);
            }
        }
        throw new ReplayException(Code.BAD_INPUT, "run " + run + " has no event " + index);
    }

    private static @Nullable String act(SealedCapture stream, long seq) throws IOException, ReplayException {
        try (InputStream frames = stream.open()) {
            Row row = StreamedFrame.row(frames, seq);
            return row == null ? null : act(row);
        }
    }

    /// What one frame alone says of who did what; the name of a process is in others.
    private static String act(Row row) {
        return (row.has(Column.PID) ? "pid " + row.number(Column.PID) + "  " : "") + EventLine.what(row);
    }

    private static FrameLookup of(RunReader reader) throws IOException {
        Row row = reader.row();
        return new FrameLookup(row.number(Column.CPU_SEQ), reader.index(), EventLine.format(reader.index(), row), null);
    }

    /// The next frame after an event, of `kind` if one is given; null if there is none.
    public static @Nullable FrameLookup behind(Recordings recordings, RunId run, long index, @Nullable Kind kind)
            throws IOException {
        try (RunReader reader = RunReader.open(recordings, run, index + 1)) {
            while (reader.next()) {
                Row row = reader.row();
                boolean wanted = kind == null || row.number(Column.KIND) == kind.code();
                if (wanted && row.has(Column.CPU_SEQ)) {
                    return of(reader);
                }
            }
        }
        return null;
    }
}
