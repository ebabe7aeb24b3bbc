package blackbox.replay.capture;

import blackbox.schemas.Hash;
import org.jspecify.annotations.Nullable;

/// A sealed segment of a captured file.
///
/// @param index of the event that seals it; -1 for a file of a re-execution, which a verdict binds
/// @param readNs when the file was known to be at least `to` octets long, nanoseconds since 1970
/// @param sealedNs the event's time, nanoseconds since 1970: `readNs`, or later if the octets were not final at once
/// @param from its first octet
/// @param to after its last octet
/// @param sha256 of its octets
/// @param syncedBeforeNs of the log of a disk: up to when all that the guest wrote is in the segments before this
///     one, nanoseconds since 1970; null if the event does not say
/// @param syncedNs of the log of a disk: up to when all that the guest wrote is in the segments to here,
///     nanoseconds since 1970; null if the event does not say
public record CaptureSegment(
        long index,
        long readNs,
        long sealedNs,
        long from,
        long to,
        Hash sha256,
        @Nullable Long syncedBeforeNs,
        @Nullable Long syncedNs) {
    public CaptureSegment {
        if (from < 0 || to <= from || readNs > sealedNs) {
            throw new IllegalArgumentException(
                    "a segment from " + from + " to " + to + ", read at " + readNs + " and sealed at " + sealedNs);
        }
    }
}
