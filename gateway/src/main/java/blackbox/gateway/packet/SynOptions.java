package blackbox.gateway.packet;

import blackbox.schemas.net.Octets;
import blackbox.schemas.net.TcpHeader;

/// What the options of a SYN say (RFC 9293 section 3.2, RFC 7323 section 2.2).
///
/// @param mss the maximum segment size, or 0
/// @param windowShift by how many bits the windows of later segments are shifted, at most 14; [#UNSCALED] if the sender
///     offers no scaling
public record SynOptions(int mss, int windowShift) {
    public static final int UNSCALED = -1;

    private static final int END = 0;
    private static final int NOTHING = 1;
    private static final int MSS = 2;
    private static final int WINDOW_SCALE = 3;
    private static final int SHIFT_MAX = 14;

    /// Reads those of a header; whatever follows one that contradicts itself is left out.
    ///
    /// @param header where the header begins
    /// @param end where it ends
    public static SynOptions of(byte[] octets, int header, int end) {
        int mss = 0;
        int shift = UNSCALED;
        for (int at = header + TcpHeader.BYTES_MIN; at < end && octets[at] != END; ) {
            if (octets[at] == NOTHING) {
                at++;
                continue;
            }
            int length = at + 1 < end ? Octets.u8(octets, at + 1) : 0;
            if (length < 2 || at + length > end) {
                break;
            }
            if (octets[at] == MSS && length == 4 && mss == 0) {
                mss = Octets.u16(octets, at + 2);
            } else if (octets[at] == WINDOW_SCALE && length == 3) {
                shift = Math.min(Octets.u8(octets, at + 2), SHIFT_MAX);
            }
            at += length;
        }
        return new SynOptions(mss, shift);
    }

    public boolean scales() {
        return windowShift != UNSCALED;
    }
}
