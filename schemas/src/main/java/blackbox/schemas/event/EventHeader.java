package blackbox.schemas.event;

import org.jspecify.annotations.Nullable;

/// What every event has.
///
/// @param atNs nanoseconds since the epoch on the host's clock
/// @param origin for guest events, the CPU and sequence number; null for the host's
/// @param process the process it is about, null if there is none
/// @param marks what was cut or could not be read
public record EventHeader(
        long atNs,
        Source source,
        @Nullable GuestOrigin origin,
        @Nullable ProcessRef process,
        Marks marks) {

    /// A header for what the host saw itself.
    public static EventHeader host(long atNs) {
        return new EventHeader(atNs, Source.HOST, null, null, Marks.NONE);
    }
}
