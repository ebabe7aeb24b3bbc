package blackbox.schemas.net;

import java.net.InetAddress;

/// Numbers, checksums and addresses in network byte order.
public final class Octets {
    private Octets() {}

    public static int u8(byte[] octets, int at) {
        return octets[at] & 0xff;
    }

    public static int u16(byte[] octets, int at) {
        return u8(octets, at) << 8 | u8(octets, at + 1);
    }

    public static int u32(byte[] octets, int at) {
        return u16(octets, at) << 16 | u16(octets, at + 2);
    }

    public static void putU16(byte[] octets, int at, int value) {
        octets[at] = (byte) (value >> 8);
        octets[at + 1] = (byte) value;
    }

    public static void putU32(byte[] octets, int at, int value) {
        putU16(octets, at, value >> 16);
        putU16(octets, at + 2, value);
    }

    /// The sum of 16-bit words that the Internet checksum is made of (RFC 1071), added to `sum`.
    public static long sum(byte[] octets, int from, int to, long sum) {
        long total = sum;
        for (int at = from; at + 1 < to; at += 2) {
            total += u16(octets, at);
        }
        return (to - from) % 2 == 0 ? total : total + (u8(octets, to - 1) << 8);
    }

    /// The checksum of a sum: folded and complemented.
    public static int checksum(long sum) {
        long folded = sum;
        while (folded >> 16 != 0) {
            folded = (folded & 0xffff) + (folded >> 16);
        }
        return (int) ~folded & 0xffff;
    }

    /// The octets of an address that [IpAddress] wrote; never asks a resolver.
    public static byte[] ofAddress(String text) {
        try {
            return InetAddress.ofLiteral(text).getAddress();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("no IP address: " + text, e);
        }
    }
}
