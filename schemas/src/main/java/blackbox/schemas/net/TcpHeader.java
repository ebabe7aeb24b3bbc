package blackbox.schemas.net;

import org.jspecify.annotations.Nullable;

/// The header of a TCP segment (RFC 9293). No field of it can lead outside the segment.
///
/// @param sequence of the first octet: unsigned 32 bits, to be compared by differences
/// @param acknowledgement meaningful with [#ACK]
/// @param flags a sum of the constants and of URG (32)
/// @param window unscaled
/// @param payloadAt where the payload begins; it ends with the segment
/// @param isWellFormed false when the header claims to be shorter than the shortest, or longer than the segment; the
///     payload is then only a guess
public record TcpHeader(
        int sourcePort,
        int destinationPort,
        int sequence,
        int acknowledgement,
        int flags,
        int window,
        int payloadAt,
        boolean isWellFormed) {

    public static final int FIN = 1;
    public static final int SYN = 2;
    public static final int RST = 4;
    public static final int PSH = 8;
    public static final int ACK = 16;

    /// Length of a header without options.
    public static final int BYTES_MIN = 20;

    /// Reads the header of the segment in `octets` from `at` to `end`; null if there are too few for one.
    public static @Nullable TcpHeader of(byte[] octets, int at, int end) {
        if (end - at < BYTES_MIN) {
            return null;
        }
        int claimed = (Octets.u8(octets, at + 12) >> 4) * 4;
        return new TcpHeader(
                Octets.u16(octets, at),
                Octets.u16(octets, at + 2),
                Octets.u32(octets, at + 4),
                Octets.u32(octets, at + 8),
                Octets.u8(octets, at + 13) & 0x3f,
                Octets.u16(octets, at + 14),
                Math.min(end, at + Math.max(BYTES_MIN, claimed)),
                claimed >= BYTES_MIN && claimed <= end - at);
    }
}
