package blackbox.gateway.packet;

import blackbox.schemas.net.Octets;
import blackbox.schemas.net.UdpHeader;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// A UDP datagram (RFC 768).
///
/// @param payloadAt where in the IP payload its octets begin
public record UdpDatagram(int sourcePort, int destinationPort, byte[] payload, int payloadAt) {
    private static final int HEADER_BYTES = UdpHeader.BYTES;
    private static final int CHECKSUM_AT = 6;

    /// The datagram in an IP payload, or null if there is none.
    public static @Nullable UdpDatagram parse(byte[] octets) {
        UdpHeader header = UdpHeader.of(octets, 0, octets.length);
        if (header == null || !header.isWellFormed()) {
            return null;
        }
        return new UdpDatagram(
                header.sourcePort(),
                header.destinationPort(),
                Arrays.copyOfRange(octets, header.payloadAt(), header.payloadEnd()),
                header.payloadAt());
    }

    /// A datagram in the opposite direction.
    public UdpDatagram answer(byte[] octets) {
        int from = destinationPort;
        int to = sourcePort;
        return new UdpDatagram(from, to, octets, 0);
    }

    /// As the payload of a packet between these addresses.
    public IpPacket packet(byte[] source, byte[] destination) {
        var octets = new byte[HEADER_BYTES + payload.length];
        Octets.putU16(octets, 0, sourcePort);
        Octets.putU16(octets, 2, destinationPort);
        Octets.putU16(octets, 4, octets.length);
        System.arraycopy(payload, 0, octets, HEADER_BYTES, payload.length);
        return IpPacket.of(source, destination, IpPacket.UDP, octets).withChecksum(CHECKSUM_AT);
    }
}
