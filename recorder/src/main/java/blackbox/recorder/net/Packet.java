package blackbox.recorder.net;

import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.IpHeader;
import blackbox.schemas.net.Octets;
import blackbox.schemas.net.TcpHeader;
import blackbox.schemas.net.UdpHeader;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The content of one Ethernet frame: protocol, endpoints and payload. Lengths are those that the headers
/// claim, cut to what was captured; a frame that cannot be parsed to the end is still counted, under what
/// could be parsed.
///
/// @param protocol `tcp`, `udp`, `icmp`, `icmpv6`, an IP protocol number, `arp`, or `ether-<type>`
/// @param source null if the frame has no IP addresses; port 0 if it has no ports
/// @param payload octets of the transport's payload
/// @param sequence TCP sequence number, unsigned 32 bits
/// @param tcpFlags TCP flags, 0 if it is not TCP
record Packet(
        String protocol,
        @Nullable Endpoint source,
        @Nullable Endpoint destination,
        byte[] payload,
        long sequence,
        int tcpFlags) {

    private static final int ARP = 0x0806;
    private static final int LATER_FRAGMENT = -1;

    /// Reads an Ethernet frame.
    static Packet parse(byte[] frame) {
        IpHeader ip = IpHeader.of(frame);
        if (ip != null) {
            return transport(
                    ip.part() == IpHeader.Part.LATER ? LATER_FRAGMENT : ip.protocol(),
                    address(frame, ip.sourceAt(), ip),
                    address(frame, ip.destinationAt(), ip),
                    frame,
                    ip.payloadAt(),
                    ip.end());
        }
        if (frame.length < IpHeader.ETHERNET_BYTES) {
            return other("ether-short", frame);
        }
        int type = Octets.u16(frame, 12);
        return other(type == ARP ? "arp" : "ether-%04x".formatted(type), frame);
    }

    private static Packet other(String protocol, byte[] frame) {
        return new Packet(protocol, null, null, frame, 0, 0);
    }

    private static String address(byte[] frame, int at, IpHeader ip) {
        return ip.version() == 4 ? IpAddress.v4(frame, at) : IpAddress.v6(frame, at);
    }

    private static Packet transport(int protocol, String from, String to, byte[] frame, int at, int end) {
        TcpHeader tcp = protocol == IpHeader.TCP ? TcpHeader.of(frame, at, end) : null;
        if (tcp != null) {
            return new Packet(
                    "tcp",
                    new Endpoint(from, tcp.sourcePort()),
                    new Endpoint(to, tcp.destinationPort()),
                    Arrays.copyOfRange(frame, tcp.payloadAt(), end),
                    Integer.toUnsignedLong(tcp.sequence()),
                    tcp.flags());
        }
        UdpHeader udp = protocol == IpHeader.UDP ? UdpHeader.of(frame, at, end) : null;
        if (udp != null) {
            return new Packet(
                    "udp",
                    new Endpoint(from, udp.sourcePort()),
                    new Endpoint(to, udp.destinationPort()),
                    Arrays.copyOfRange(frame, udp.payloadAt(), udp.payloadEnd()),
                    0,
                    0);
        }
        byte[] payload = Arrays.copyOfRange(frame, at, end);
        return new Packet(name(protocol), new Endpoint(from, 0), new Endpoint(to, 0), payload, 0, 0);
    }

    private static String name(int protocol) {
        return switch (protocol) {
            case LATER_FRAGMENT -> "ip-fragment";
            case IpHeader.ICMP -> "icmp";
            case IpHeader.ICMP6 -> "icmpv6";
            default -> Integer.toString(protocol);
        };
    }
}
