package blackbox.recorder.net;

import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.IpHeader;
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

    static final int FIN = 1;
    static final int SYN = 2;
    static final int RST = 4;

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
        int type = u16(frame, 12);
        return other(type == ARP ? "arp" : "ether-%04x".formatted(type), frame);
    }

    private static Packet other(String protocol, byte[] frame) {
        return new Packet(protocol, null, null, frame, 0, 0);
    }

    private static String address(byte[] frame, int at, IpHeader ip) {
        return ip.version() == 4 ? IpAddress.v4(frame, at) : IpAddress.v6(frame, at);
    }

    private static Packet transport(int protocol, String from, String to, byte[] frame, int at, int end) {
        if (protocol == 6 && end - at >= 20) {
            int headerLength = (frame[at + 12] >> 4 & 0xf) * 4;
            int body = Math.min(end, at + Math.max(20, headerLength));
            return new Packet(
                    "tcp",
                    new Endpoint(from, u16(frame, at)),
                    new Endpoint(to, u16(frame, at + 2)),
                    Arrays.copyOfRange(frame, body, end),
                    Integer.toUnsignedLong(u16(frame, at + 4) << 16 | u16(frame, at + 6)),
                    frame[at + 13] & 0x3f);
        }
        if (protocol == 17 && end - at >= 8) {
            int body = at + 8;
            int claimed = Math.max(body, Math.min(end, at + u16(frame, at + 4)));
            return new Packet(
                    "udp",
                    new Endpoint(from, u16(frame, at)),
                    new Endpoint(to, u16(frame, at + 2)),
                    Arrays.copyOfRange(frame, body, claimed),
                    0,
                    0);
        }
        byte[] payload = Arrays.copyOfRange(frame, at, end);
        return new Packet(name(protocol), new Endpoint(from, 0), new Endpoint(to, 0), payload, 0, 0);
    }

    private static String name(int protocol) {
        return switch (protocol) {
            case LATER_FRAGMENT -> "ip-fragment";
            case 1 -> "icmp";
            case 58 -> "icmpv6";
            default -> Integer.toString(protocol);
        };
    }

    private static int u16(byte[] octets, int at) {
        return (octets[at] & 0xff) << 8 | octets[at + 1] & 0xff;
    }
}
