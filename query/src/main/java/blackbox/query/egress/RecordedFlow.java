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
    /// @param host the name that the host's record vouches for: the network's resolver gave the address for it
    ///     before, or the egress gateway connected to it; null if there is none
    /// @param claimed a name that the guest said, and that nothing vouches for
    /// @param ip an address; behind the egress gateway, of a name, the one that the host connected to; null if
    ///     it is not recorded
    public record Peer(
            String protocol,
            @Nullable String host,
            @Nullable String claimed,
            @Nullable String ip,
            @Nullable Integer port) {}
}
