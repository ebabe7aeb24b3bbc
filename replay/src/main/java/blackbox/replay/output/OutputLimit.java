package blackbox.replay.output;

import blackbox.recorder.capture.PrintedStream;
import org.jspecify.annotations.Nullable;

/// Why what is shown of a command's output may not be all of it.
///
/// @param stream which one; null for both
/// @param text for people, as a clause
public record OutputLimit(Kind kind, @Nullable PrintedStream stream, String text) {

    /// What kind of reason.
    public enum Kind {
        /// The run kept none.
        NOT_RECORDED,
        /// The limit of the recording was reached.
        CUT,
        /// What was printed last was not sealed.
        UNSEALED,
        /// The run's payloads were destroyed.
        SHREDDED
    }
}
