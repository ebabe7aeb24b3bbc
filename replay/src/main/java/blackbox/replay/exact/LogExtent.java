package blackbox.replay.exact;

import blackbox.vm.VmException;
import blackbox.vm.seek.ReplayEvents;
import java.io.IOException;
import java.io.InputStream;

/// The extent of a QEMU replay log that is stored without its header (`rr` in `schemas/capture.md`).
///
/// @param instructions how many are executed until the last complete event
/// @param events how many complete ones there are
/// @param bytes in complete events
/// @param end whether the last event is the log's end, which QEMU writes when it shuts down cleanly
public record LogExtent(long instructions, long events, long bytes, boolean end) {
    private static final int CHARACTERS_AT_ONCE = 23;
    private static final int CHARACTERS_AT_ONCE_FAILED = 24;

    /// Reads a log to its end or to where it is truncated.
    ///
    /// @param log without the header of 12 octets
    /// @throws IOException when it cannot be read, or holds something that no machine of the exact tier
    ///     writes
    public static LogExtent read(InputStream log) throws IOException {
        return read(log, new GuestClock(0));
    }

    /// The same, also collecting what the log says about the guest's clock.
    ///
    /// @param clock receives the events that are read
    public static LogExtent read(InputStream log, GuestClock clock) throws IOException {
        long count = 0;
        long instructions = 0;
        long bytes = 0;
        boolean end = false;
        try (var events = ReplayEvents.withoutHeader(log)) {
            while (!end && events.next()) {
                int kind = events.kind();
                if (kind == CHARACTERS_AT_ONCE || kind == CHARACTERS_AT_ONCE_FAILED) {
                    throw new IOException("the replay log holds an event of kind " + kind
                            + ", which no machine of the exact tier makes");
                }
                clock.add(events);
                count++;
                instructions = events.instructions();
                bytes = events.end();
                end = kind == ReplayEvents.END;
            }
            return new LogExtent(instructions, count, bytes, end);
        } catch (VmException e) {
            throw new IOException(e.getMessage(), e);
        }
    }
}
