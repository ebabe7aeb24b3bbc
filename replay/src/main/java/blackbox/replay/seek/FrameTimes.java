package blackbox.replay.seek;

import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.SealedCapture;
import blackbox.schemas.wire.Frame;
import blackbox.schemas.wire.RingStream;
import java.io.IOException;
import java.io.InputStream;

/// The guest's clock for each frame of the tracer, from the sealed stream.
final class FrameTimes {

    private FrameTimes() {}

    /// The time of a frame, in nanoseconds.
    ///
    /// @throws ReplayException `BAD_INPUT` when the stream has no such frame
    static long of(SealedCapture stream, long seq) throws IOException, ReplayException {
        try (InputStream in = stream.open()) {
            Frame frame = new RingStream(in).find(seq);
            if (frame != null) {
                return frame.ktimeNs();
            }
        }
        throw new ReplayException(Code.BAD_INPUT, "the recording's stream has no frame " + seq);
    }
}
