package blackbox.gateway.packet;

import blackbox.schemas.net.IpHeader;
import blackbox.schemas.net.Octets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// An ICMP (RFC 792) or ICMPv6 (RFC 4443) message.
///
/// @param protocol [IpPacket#ICMP] or [IpPacket#ICMP6]
/// @param body after type, code and checksum
public record IcmpMessage(int protocol, int type, int code, byte[] body) {
    private static final int HEADER_BYTES = 4;
    /// How much to quote of the undeliverable packet: enough for its header and the ports.
    private static final int QUOTE_BYTES_MAX = 576;

    public static @Nullable IcmpMessage of(IpPacket packet) {
        byte[] octets = packet.payload();
        return octets.length < HEADER_BYTES
                ? null
                : new IcmpMessage(
                        packet.protocol(),
                        Octets.u8(octets, 0),
                        Octets.u8(octets, 1),
                        Arrays.copyOfRange(octets, HEADER_BYTES, octets.length));
    }

    private boolean v4() {
        return protocol == IpPacket.ICMP;
    }

    public boolean isEchoRequest() {
        return type == (v4() ? 8 : 128);
    }

    public boolean isEchoReply() {
        return type == (v4() ? 0 : 129);
    }

    public boolean saysUnreachable() {
        return type == (v4() ? 3 : 1);
    }

    public int typeAndCode() {
        return type << 8 | code;
    }

    /// The packet that an error message quotes, as far as it is included; null if it cannot be read.
    public @Nullable IpPacket quoted() {
        if (body.length < 4 + (v4() ? 20 : 40)) {
            return null;
        }
        var frame = new byte[IpPacket.ETHERNET_BYTES + body.length - 4];
        System.arraycopy(body, 4, frame, IpPacket.ETHERNET_BYTES, body.length - 4);
        Octets.putU16(frame, 12, v4() ? IpHeader.TYPE_V4 : IpHeader.TYPE_V6);
        // The quote may be cut: its length field then claims more than there is.
        Octets.putU16(frame, v4() ? 16 : 18, body.length - 4 - (v4() ? 0 : 40));
        return IpPacket.parse(frame);
    }

    /// The answer to an echo request.
    public IcmpMessage reply() {
        return new IcmpMessage(protocol, v4() ? 0 : 129, 0, body);
    }

    /// The message that `packet` is undeliverable.
    public static IcmpMessage unreachable(IpPacket packet, int typeAndCode) {
        boolean v4 = packet.source().length == 4;
        byte[] frame = packet.frame(new byte[6], new byte[6]);
        int quote = Math.min(frame.length - IpPacket.ETHERNET_BYTES, QUOTE_BYTES_MAX);
        var body = new byte[4 + quote];
        System.arraycopy(frame, IpPacket.ETHERNET_BYTES, body, 4, quote);
        return new IcmpMessage(v4 ? IpPacket.ICMP : IpPacket.ICMP6, typeAndCode >> 8, typeAndCode & 0xff, body);
    }

    public IpPacket packet(byte[] source, byte[] destination) {
        var octets = new byte[HEADER_BYTES + body.length];
        octets[0] = (byte) type;
        octets[1] = (byte) code;
        System.arraycopy(body, 0, octets, HEADER_BYTES, body.length);
        return IpPacket.of(source, destination, protocol, octets).withChecksum(2);
    }
}
