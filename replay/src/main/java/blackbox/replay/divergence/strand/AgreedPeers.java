package blackbox.replay.divergence.strand;

import blackbox.schemas.event.Endpoint;
import java.util.Map;
import java.util.Set;

/// Peers of which it is known that they got and gave the same octets, though over other connections: these, and
/// how often their names were looked up, are then of the path.
///
/// @param peers reached by TCP
/// @param resolvers that were asked, over UDP, the same on both sides but for how often for these names, in
///     lower case
public record AgreedPeers(Set<Endpoint> peers, Map<Endpoint, Set<String>> resolvers) {
    public static final AgreedPeers NONE = new AgreedPeers(Set.of(), Map.of());

    public AgreedPeers {
        peers = Set.copyOf(peers);
        resolvers = Map.copyOf(resolvers);
    }

    public boolean isEmpty() {
        return peers.isEmpty();
    }
}
