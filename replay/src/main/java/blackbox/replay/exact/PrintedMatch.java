package blackbox.replay.exact;

import blackbox.recorder.capture.PrintedStream;
import blackbox.replay.output.OutputMatch;
import blackbox.replay.output.ReplayedOutput;
import blackbox.vm.guest.AgentOutput;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// What an agent of the exact tier printed, taken out of the frames in which it left the guest (`stdio`), and
/// compared for each stream by itself.
final class PrintedMatch {

    private PrintedMatch() {}

    /// The first stream that differs; null if only the frames do.
    ///
    /// @param scratch where temporary files are made
    static @Nullable OutputMatch first(InputStream recorded, InputStream replayed, Path scratch) throws IOException {
        try (var expected = ReplayedOutput.in(scratch);
                var actual = ReplayedOutput.in(scratch)) {
            unpack(recorded, expected);
            unpack(replayed, actual);
            for (PrintedStream stream : PrintedStream.values()) {
                try (InputStream a = expected.open(stream);
                        InputStream b = actual.open(stream)) {
                    OutputMatch match = OutputMatch.of(stream, a, b);
                    if (match.octets() != null) {
                        return match;
                    }
                }
            }
            return null;
        }
    }

    /// Frames that a guest has malformed end its side.
    private static void unpack(InputStream frames, ReplayedOutput into) {
        into.keep(Long.MAX_VALUE, () -> 0);
        OutputStream out = into.through(PrintedStream.STDOUT);
        OutputStream error = into.through(PrintedStream.STDERR);
        try {
            AgentOutput.read(
                    frames, (stream, octets) -> (stream == AgentOutput.Stream.STDOUT ? out : error).write(octets));
        } catch (IOException _) {
            // The octets of the frames differ, and that is reported in any case.
        }
    }
}
