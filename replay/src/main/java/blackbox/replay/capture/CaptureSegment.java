package blackbox.replay.capture;

import blackbox.schemas.Hash;
import org.jspecify.annotations.Nullable;

/// A sealed segment of a captured file.
///
/// @param index of the event that seals it
/// @param atNs that event's time, nanoseconds since 1970: the file was at least `to` octets long by then
/// @param from its first octet
/// @param to after its last octet
/// @param sha256 of its octets
/// @param syncedBeforeNs of the log of a disk: up to when all that the guest wrote is in the segments before this
///     one, nanoseconds since 1970; null if the event does not say
/// @param syncedNs of the log of a disk: up to when all that the guest wrote is in the segments to here,
///     nanoseconds since 1970; null if the event does not say
public record CaptureSegment(
        long index,
        long atNs,
        long from,
        long to,
        Hash sha256,
        @Nullable Long syncedBeforeNs,
        @Nullable Long syncedNs) {
    public CaptureSegment {
        if (from < 0 || to <= from) {
            throw new IllegalArgumentException("a segment from " + from + " to " + to);
        }
    }
}
