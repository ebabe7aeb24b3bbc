package blackbox.schemas.net;

import org.jspecify.annotations.Nullable;

/// The header of a UDP datagram (RFC 768). No field of it can lead outside the datagram.
///
/// @param payloadAt where the payload begins
/// @param payloadEnd where it ends; padding may follow
/// @param isWellFormed false when it claims to be shorter than its header, or longer than there are octets
public record UdpHeader(int sourcePort, int destinationPort, int payloadAt, int payloadEnd, boolean isWellFormed) {

    /// Its length.
    public static final int BYTES = 8;

    /// Reads the header of the datagram in `octets` from `at` to `end`; null if there are too few for one.
    public static @Nullable UdpHeader of(byte[] octets, int at, int end) {
        if (end - at < BYTES) {
            return null;
        }
        int claimed = Octets.u16(octets, at + 4);
        return new UdpHeader(
                Octets.u16(octets, at),
                Octets.u16(octets, at + 2),
                at + BYTES,
                at + Math.max(BYTES, Math.min(end - at, claimed)),
                claimed >= BYTES && claimed <= end - at);
    }
}
