package blackbox.gateway.stack;

import blackbox.gateway.packet.IcmpMessage;
import blackbox.gateway.packet.IpPacket;
import blackbox.schemas.net.Octets;
import java.util.Arrays;

/// Sends the packets that are sent seldom.
final class PacketSender {
    private final FrameSink frames;
    private final byte[] guestMac;
    private final byte[] gatewayMac = StackSettings.gatewayMacOctets();
    private final byte[] gateway;

    PacketSender(FrameSink frames, StackSettings settings) {
        this.frames = frames;
        this.guestMac = settings.guestMacOctets();
        this.gateway = Octets.ofAddress(settings.gateway());
    }

    void send(IpPacket packet) {
        byte[] frame = packet.frame(guestMac, gatewayMac);
        frames.send(frame, frame.length);
    }

    /// Tells the guest that a packet of its was not delivered (RFC 792). It comes from the gateway, because nobody has
    /// the address that the packet was for.
    ///
    /// @param frame the packet's, or the beginning of it
    void unreachable(byte[] frame, int length, Refusal why) {
        IpPacket packet = IpPacket.parse(cut(frame, length));
        if (packet != null) {
            send(IcmpMessage.unreachable(packet, why.typeAndCode).packet(gateway, packet.source()));
        }
    }

    /// A copy that says itself how long it is, if it was cut.
    private static byte[] cut(byte[] frame, int length) {
        byte[] copy = Arrays.copyOf(frame, length);
        Octets.putU16(copy, 16, Math.min(Octets.u16(copy, 16), length - IpPacket.ETHERNET_BYTES));
        return copy;
    }
}
