package blackbox.replay.capture;

import blackbox.schemas.Hash;

/// A sealed segment of a captured file.
///
/// @param index of the event that seals it
/// @param atNs that event's time, nanoseconds since 1970: the file was at least `to` octets long by then
/// @param from its first octet
/// @param to after its last octet
/// @param sha256 of its octets
public record CaptureSegment(long index, long atNs, long from, long to, Hash sha256) {
    public CaptureSegment {
        if (from < 0 || to <= from) {
            throw new IllegalArgumentException("a segment from " + from + " to " + to);
        }
    }
}
