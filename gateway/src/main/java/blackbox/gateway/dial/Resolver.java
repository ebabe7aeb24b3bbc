package blackbox.gateway.dial;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/// Finds the addresses of a name; may block.
@FunctionalInterface
public interface Resolver {

    /// The host's own way: its files and name servers.
    Resolver OF_HOST = host -> List.of(InetAddress.getAllByName(host));

    List<InetAddress> resolve(String host) throws UnknownHostException;
}
