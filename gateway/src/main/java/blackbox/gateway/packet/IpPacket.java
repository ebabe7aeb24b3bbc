package blackbox.gateway.packet;

import blackbox.schemas.net.IpHeader;
import blackbox.schemas.net.Octets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// An IPv4 or IPv6 packet in an Ethernet frame.
///
/// @param source 4 or 16 octets
/// @param destination of the same length
/// @param protocol of the payload, by IANA's numbers
/// @param payload after the header
/// @param payloadAt where in the frame it begins
/// @param fragment whether it is only a part of a packet; then the payload must not be interpreted
public record IpPacket(
        byte[] source, byte[] destination, int protocol, byte[] payload, int payloadAt, boolean fragment) {
    public static final int ICMP = IpHeader.ICMP;
    public static final int TCP = IpHeader.TCP;
    public static final int UDP = IpHeader.UDP;
    public static final int ICMP6 = IpHeader.ICMP6;

    public static final int ETHERNET_BYTES = IpHeader.ETHERNET_BYTES;
    private static final int HOPS = 64;

    public static IpPacket of(byte[] source, byte[] destination, int protocol, byte[] payload) {
        return new IpPacket(source, destination, protocol, payload, 0, false);
    }

    /// The packet in `frame`, or null if there is none.
    public static @Nullable IpPacket parse(byte[] frame) {
        IpHeader ip = IpHeader.of(frame);
        if (ip == null || !ip.isWellFormed()) {
            return null;
        }
        return new IpPacket(
                Arrays.copyOfRange(frame, ip.sourceAt(), ip.sourceAt() + ip.addressBytes()),
                Arrays.copyOfRange(frame, ip.destinationAt(), ip.destinationAt() + ip.addressBytes()),
                ip.protocol(),
                Arrays.copyOfRange(frame, ip.payloadAt(), ip.end()),
                ip.payloadAt(),
                ip.part() != IpHeader.Part.WHOLE);
    }

    /// The sum over the pseudo-header, which the checksums of TCP, UDP and ICMPv6 cover besides their own octets
    /// (RFC 793, RFC 8200 section 8.1).
    public long pseudoHeader() {
        long sum = Octets.sum(source, 0, source.length, 0);
        sum = Octets.sum(destination, 0, destination.length, sum);
        return sum + protocol + payload.length;
    }

    /// The same with the checksum of its payload, which is at offset `at` in it, filled in.
    public IpPacket withChecksum(int at) {
        byte[] checked = payload.clone();
        Octets.putU16(checked, at, 0);
        int sum = Octets.checksum(Octets.sum(checked, 0, checked.length, protocol == ICMP ? 0 : pseudoHeader()));
        Octets.putU16(checked, at, sum == 0 && protocol == UDP ? 0xffff : sum);
        return of(source, destination, protocol, checked);
    }

    /// The frame that carries this packet from one Ethernet address to another.
    public byte[] frame(byte[] to, byte[] from) {
        boolean v4 = source.length == 4;
        int header = v4 ? 20 : 40;
        var frame = new byte[ETHERNET_BYTES + header + payload.length];
        System.arraycopy(to, 0, frame, 0, 6);
        System.arraycopy(from, 0, frame, 6, 6);
        Octets.putU16(frame, 12, v4 ? IpHeader.TYPE_V4 : IpHeader.TYPE_V6);
        int at = ETHERNET_BYTES;
        if (v4) {
            frame[at] = 0x45;
            Octets.putU16(frame, at + 2, header + payload.length);
            Octets.putU16(frame, at + 6, 0x4000);
            frame[at + 8] = HOPS;
            frame[at + 9] = (byte) protocol;
        } else {
            frame[at] = 0x60;
            Octets.putU16(frame, at + 4, payload.length);
            frame[at + 6] = (byte) protocol;
            // Neighbours accept nothing that could have come through a router (RFC 4861 section 7.1).
            frame[at + 7] = (byte) (protocol == ICMP6 ? 255 : HOPS);
        }
        System.arraycopy(source, 0, frame, at + (v4 ? 12 : 8), source.length);
        System.arraycopy(destination, 0, frame, at + (v4 ? 16 : 24), destination.length);
        if (v4) {
            Octets.putU16(frame, at + 10, Octets.checksum(Octets.sum(frame, at, at + header, 0)));
        }
        System.arraycopy(payload, 0, frame, at + header, payload.length);
        return frame;
    }
}
