package blackbox.gateway.packet;

import blackbox.schemas.net.Octets;
import blackbox.schemas.net.TcpHeader;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A TCP segment (RFC 9293). Sequence numbers are unsigned 32 bits in an int: compare them by their
/// difference.
///
/// @param sequence of the first octet
/// @param acknowledgement meaningful with [#ACK]
/// @param flags a sum of the constants
/// @param window unscaled
/// @param mss the option of a SYN, or 0
/// @param payload its octets
/// @param payloadAt where in the IP payload they begin
public record TcpSegment(
        int sourcePort,
        int destinationPort,
        int sequence,
        int acknowledgement,
        int flags,
        int window,
        int mss,
        byte[] payload,
        int payloadAt) {
    public static final int FIN = TcpHeader.FIN;
    public static final int SYN = TcpHeader.SYN;
    public static final int RST = TcpHeader.RST;
    public static final int PSH = TcpHeader.PSH;
    public static final int ACK = TcpHeader.ACK;

    private static final int HEADER_BYTES = TcpHeader.BYTES_MIN;
    private static final int CHECKSUM_AT = 16;

    /// The segment in an IP payload, or null if there is none.
    public static @Nullable TcpSegment parse(byte[] octets) {
        TcpHeader header = TcpHeader.of(octets, 0, octets.length);
        if (header == null || !header.isWellFormed()) {
            return null;
        }
        return new TcpSegment(
                header.sourcePort(),
                header.destinationPort(),
                header.sequence(),
                header.acknowledgement(),
                header.flags(),
                header.window(),
                SynOptions.of(octets, 0, header.payloadAt()).mss(),
                Arrays.copyOfRange(octets, header.payloadAt(), octets.length),
                header.payloadAt());
    }

    public boolean is(int flag) {
        return (flags & flag) != 0;
    }

    /// The sequence number after it: its octets, plus one each for SYN and FIN.
    public int end() {
        return sequence + payload.length + (is(SYN) ? 1 : 0) + (is(FIN) ? 1 : 0);
    }

    /// A segment in the opposite direction.
    public TcpSegment answer(int seq, int ack, int flagsOfAnswer, int windowOfAnswer, int mssOfAnswer, byte[] octets) {
        int from = destinationPort;
        int to = sourcePort;
        return new TcpSegment(from, to, seq, ack, flagsOfAnswer, windowOfAnswer, mssOfAnswer, octets, 0);
    }

    /// As the payload of a packet between these addresses.
    public IpPacket packet(byte[] source, byte[] destination) {
        int header = HEADER_BYTES + (mss > 0 ? 4 : 0);
        var octets = new byte[header + payload.length];
        Octets.putU16(octets, 0, sourcePort);
        Octets.putU16(octets, 2, destinationPort);
        Octets.putU32(octets, 4, sequence);
        Octets.putU32(octets, 8, acknowledgement);
        octets[12] = (byte) (header / 4 << 4);
        octets[13] = (byte) flags;
        Octets.putU16(octets, 14, window);
        if (mss > 0) {
            octets[HEADER_BYTES] = 2;
            octets[HEADER_BYTES + 1] = 4;
            Octets.putU16(octets, HEADER_BYTES + 2, mss);
        }
        System.arraycopy(payload, 0, octets, header, payload.length);
        return IpPacket.of(source, destination, IpPacket.TCP, octets).withChecksum(CHECKSUM_AT);
    }
}
