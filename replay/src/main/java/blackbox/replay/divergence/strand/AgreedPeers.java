package blackbox.replay.divergence.strand;

import blackbox.schemas.event.Endpoint;
import java.util.Set;

/// Peers of which it is known that they got and gave the same octets, though over other connections: these, and how
/// often
/// their names were looked up, are then of the path.
///
/// @param peers reached by TCP
/// @param resolvers that were asked, over UDP, the same on both sides but for how often for `names`
/// @param names that lead to `peers` alone, in lower case
public record AgreedPeers(Set<Endpoint> peers, Set<Endpoint> resolvers, Set<String> names) {
    public static final AgreedPeers NONE = new AgreedPeers(Set.of(), Set.of(), Set.of());

    public AgreedPeers {
        peers = Set.copyOf(peers);
        resolvers = Set.copyOf(resolvers);
        names = Set.copyOf(names);
    }

    public boolean isEmpty() {
        return peers.isEmpty();
    }
}
