package blackbox.schemas.net;

import org.jspecify.annotations.Nullable;

/// Where the parts of an IP packet (RFC 791, RFC 8200) are in an Ethernet frame. IPv6's extension headers are
/// skipped: the protocol is that of the payload after them. No header field can lead outside the frame.
///
/// @param version 4 or 6
/// @param sourceAt where the source address begins
/// @param destinationAt where the destination address begins
/// @param protocol of the payload by IANA's numbers; for later fragments, that of the first one
/// @param payloadAt where the payload begins
/// @param end where it ends; padding may follow
/// @param part whether this is a whole packet or a fragment
/// @param isWellFormed false when a header contradicts itself or claims more octets than there are
public record IpHeader(
        int version,
        int sourceAt,
        int destinationAt,
        int protocol,
        int payloadAt,
        int end,
        Part part,
        boolean isWellFormed) {

    /// How much of a packet is in a frame.
    public enum Part {
        /// All of it.
        WHOLE,
        /// Its first fragment, with the header of its protocol.
        FIRST,
        /// A later fragment: its payload begins inside the packet's.
        LATER
    }

    /// Length of an Ethernet header.
    public static final int ETHERNET_BYTES = 14;

    /// The Ethernet types of IP.
    public static final int TYPE_V4 = 0x0800;

    public static final int TYPE_V6 = 0x86dd;

    /// Protocols of payloads, by IANA's numbers.
    public static final int ICMP = 1;

    public static final int TCP = 6;
    public static final int UDP = 17;
    public static final int ICMP6 = 58;

    private static final int V4_BYTES = 20;
    private static final int V6_BYTES = 40;
    private static final int FRAGMENT = 44;
    private static final int EXTENSIONS_MAX = 8;

    /// Reads the IP header of a frame; null if there is none.
    public static @Nullable IpHeader of(byte[] frame) {
        return of(frame, frame.length);
    }

    /// The same of a frame that is only the first `length` octets of the array.
    public static @Nullable IpHeader of(byte[] frame, int length) {
        if (length < ETHERNET_BYTES) {
            return null;
        }
        return switch (Octets.u16(frame, 12)) {
            case TYPE_V4 -> length < ETHERNET_BYTES + V4_BYTES ? null : v4(frame, length);
            case TYPE_V6 -> length < ETHERNET_BYTES + V6_BYTES ? null : v6(frame, length);
            default -> null;
        };
    }

    /// Length of an address, in octets.
    public int addressBytes() {
        return version == 4 ? 4 : 16;
    }

    private static IpHeader v4(byte[] frame, int length) {
        int at = ETHERNET_BYTES;
        int headerBytes = (frame[at] & 0xf) * 4;
        int claimedEnd = at + Octets.u16(frame, at + 2);
        int end = Math.min(length, claimedEnd);
        int body = Math.min(at + Math.max(headerBytes, V4_BYTES), end);
        int fragment = Octets.u16(frame, at + 6);
        boolean wellFormed = frame[at] >> 4 == 4
                && headerBytes >= V4_BYTES
                && claimedEnd <= length
                && at + headerBytes <= claimedEnd;
        Part part = part((fragment & 0x1fff) != 0, (fragment & 0x2000) != 0);
        return new IpHeader(4, at + 12, at + 16, frame[at + 9] & 0xff, body, end, part, wellFormed);
    }

    private static IpHeader v6(byte[] frame, int frameBytes) {
        int at = ETHERNET_BYTES;
        int claimedEnd = at + V6_BYTES + Octets.u16(frame, at + 4);
        int end = Math.min(frameBytes, claimedEnd);
        int next = frame[at + 6] & 0xff;
        int body = at + V6_BYTES;
        boolean wellFormed = claimedEnd <= frameBytes;
        Part part = Part.WHOLE;
        for (int i = 0; i < EXTENSIONS_MAX && part != Part.LATER && isExtension(next) && end - body >= 8; i++) {
            boolean fragment = next == FRAGMENT;
            if (fragment) {
                int offset = Octets.u16(frame, body + 2);
                part = part((offset & 0xfff8) != 0, (offset & 1) != 0);
            }
            int length = fragment ? 8 : 8 + (frame[body + 1] & 0xff) * 8;
            next = frame[body] & 0xff;
            wellFormed &= body + length <= end;
            body = Math.min(end, body + length);
        }
        return new IpHeader(6, at + 8, at + 24, next, body, end, part, wellFormed);
    }

    private static Part part(boolean offset, boolean more) {
        return offset ? Part.LATER : more ? Part.FIRST : Part.WHOLE;
    }

    /// Hop-by-hop options, routing, destination options, which encode their length alike, and fragment.
    private static boolean isExtension(int header) {
        return header == 0 || header == 43 || header == FRAGMENT || header == 60;
    }
}
