package blackbox.schemas.net;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.nio.ByteOrder;

/// Numbers, checksums and addresses in network byte order.
public final class Octets {
    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

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

    /// A sum for the Internet checksum (RFC 1071), added to `sum`: of words of 32 bits where there are any left, which
    /// is the same once it is folded, then of 16.
    public static long sum(byte[] octets, int from, int to, long sum) {
        long total = sum;
        int at = from;
        for (; at + Long.BYTES <= to; at += Long.BYTES) {
            long words = (long) WORDS.get(octets, at);
            total += (words >>> 32) + (words & 0xffff_ffffL);
        }
        for (; at + 1 < to; at += 2) {
            total += u16(octets, at);
        }
        return at == to ? total : total + (u8(octets, at) << 8);
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
