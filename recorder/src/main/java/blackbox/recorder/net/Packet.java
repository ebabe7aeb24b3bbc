package blackbox.recorder.net;

import blackbox.schemas.event.Endpoint;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// What one Ethernet frame says: protocol, endpoints and payload. Lengths are those that the headers claim,
/// cut to what is there; a frame that cannot be read to the end is still counted, under what could be read.
///
/// @param protocol `tcp`, `udp`, `icmp`, `icmpv6`, an IP protocol number, `arp`, or `ether-<type>`
/// @param source null where the frame has no IP addresses; port 0 where it has no ports
/// @param payload octets of the transport's payload
/// @param sequence TCP sequence number, unsigned 32 bits
/// @param tcpFlags TCP flags, 0 where it is not TCP
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

    private static final int IPV4 = 0x0800;
    private static final int ARP = 0x0806;
    private static final int IPV6 = 0x86dd;
    private static final int EXTENSIONS_MAX = 8;
    private static final byte[] NONE = new byte[0];

    /// Reads an Ethernet frame.
    static Packet parse(byte[] frame) {
        if (frame.length < 14) {
            return other("ether-short", frame);
        }
        int type = u16(frame, 12);
        return switch (type) {
            case IPV4 -> ipv4(frame, 14);
            case IPV6 -> ipv6(frame, 14);
            case ARP -> other("arp", frame);
            default -> other("ether-%04x".formatted(type), frame);
        };
    }

    private static Packet other(String protocol, byte[] frame) {
        return new Packet(protocol, null, null, frame, 0, 0);
    }

    private static Packet ipv4(byte[] frame, int at) {
        if (frame.length - at < 20) {
            return other("ether-0800", frame);
        }
        int headerLength = (frame[at] & 0xf) * 4;
        int end = Math.min(frame.length, at + u16(frame, at + 2));
        int fragmentOffset = u16(frame, at + 6) & 0x1fff;
        String source = IpAddress.v4(frame, at + 12);
        String destination = IpAddress.v4(frame, at + 16);
        int body = at + Math.max(headerLength, 20);
        int protocol = fragmentOffset == 0 ? frame[at + 9] & 0xff : -1;
        return transport(protocol, source, destination, frame, Math.min(body, end), end);
    }

    private static Packet ipv6(byte[] frame, int at) {
        if (frame.length - at < 40) {
            return other("ether-86dd", frame);
        }
        int end = Math.min(frame.length, at + 40 + u16(frame, at + 4));
        int next = frame[at + 6] & 0xff;
        String source = IpAddress.v6(frame, at + 8);
        String destination = IpAddress.v6(frame, at + 24);
        int body = at + 40;
        for (int i = 0; i < EXTENSIONS_MAX && isExtension(next) && end - body >= 8; i++) {
            boolean fragment = next == 44;
            boolean later = fragment && (u16(frame, body + 2) & 0xfff8) != 0;
            int length = fragment ? 8 : 8 + (frame[body + 1] & 0xff) * 8;
            next = later ? -1 : frame[body] & 0xff;
            body = Math.min(end, body + length);
        }
        return transport(next, source, destination, frame, body, end);
    }

    private static boolean isExtension(int header) {
        return header == 0 || header == 43 || header == 44 || header == 60;
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
        byte[] payload = at <= end ? Arrays.copyOfRange(frame, at, end) : NONE;
        return new Packet(name(protocol), new Endpoint(from, 0), new Endpoint(to, 0), payload, 0, 0);
    }

    private static String name(int protocol) {
        return switch (protocol) {
            case -1 -> "ip-fragment";
            case 1 -> "icmp";
            case 58 -> "icmpv6";
            default -> Integer.toString(protocol);
        };
    }

    private static int u16(byte[] octets, int at) {
        return (octets[at] & 0xff) << 8 | octets[at + 1] & 0xff;
    }
}
