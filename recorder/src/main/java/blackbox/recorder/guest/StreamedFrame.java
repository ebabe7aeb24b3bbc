package blackbox.recorder.guest;

import blackbox.schemas.event.EventRows;
import blackbox.schemas.row.Row;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.RingStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/// One frame of a tracer's stream that was captured, read by itself.
public final class StreamedFrame {

    private StreamedFrame() {}

    /// What a frame says, as the row of its event. Its time has no meaning, and paths are those of the guest's own
    /// view: neither is known from one frame.
    ///
    /// @param seq the frame's number
    /// @return null if the stream has no such frame
    public static @Nullable Row row(InputStream stream, long seq) throws IOException {
        Frame frame = new RingStream(stream).find(seq);
        if (frame == null) {
            return null;
        }
        var events = new FrameEvents(new HostClock(InstantSource.system()), 0, AgentMounts.NONE);
        var row = new Row();
        EventRows.fill(events.event(frame), row);
        return row;
    }
}
