package blackbox.query.egress;

import org.jspecify.annotations.Nullable;

/// Connections, or exchanges of datagrams, of one program with one peer.
///
/// @param index of the first event that shows one
/// @param count how many there were
/// @param bytesOut octets of payload that the guest sent
/// @param bytesIn octets of payload that it received
public record RecordedFlow(Peer peer, @Nullable String exe, long index, long count, long bytesOut, long bytesIn) {

    /// With whom.
    ///
    /// @param protocol `tcp`, `udp` or an IP protocol number
    /// @param host the name that the guest asked for, by TLS or else by DNS; null if it is not known
    /// @param ip an address
    public record Peer(
            String protocol,
            @Nullable String host,
            String ip,
            @Nullable Integer port) {}
}
