package blackbox.query.egress;

import blackbox.policy.host.Address;
import blackbox.policy.host.AddressRange;
import blackbox.schemas.row.Text;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The network between a guest and its host: QEMU's user network, whose addresses the egress gateway has too.
final class OwnNetwork {

    private static final int DNS = 53;
    private static final int DHCP = 67;
    private static final int DHCP_V6 = 547;
    private static final Set<String> RESOLVERS = Set.of("10.0.2.3", "fec0::3");
    private static final Set<String> DHCP_SERVERS = Set.of("10.0.2.2", "255.255.255.255");
    private static final Set<String> ECHOING = Set.of("10.0.2.2", "10.0.2.3");
    private static final String DHCP_V6_SERVERS = "ff02::1:2";
    private static final AddressRange OWN = AddressRange.parse("10.0.2.0/24");
    private static final AddressRange OWN_V6 = AddressRange.parse("fec0::/64");
    private static final AddressRange NAMES = AddressRange.parse("198.18.0.0/15");
    private static final Set<AddressRange> NEIGHBOURS = Set.of(
            AddressRange.parse("224.0.0.0/24"), AddressRange.parse("ff02::/16"), AddressRange.parse("fe80::/10"));

    private OwnNetwork() {}

    static boolean isResolver(@Nullable Text ip, @Nullable Long port) {
        return ip != null && port != null && port == DNS && RESOLVERS.contains(normal(ip.toString()));
    }

    /// Whether an address is one that the egress gateway gives for names.
    static boolean standsForName(String ip) {
        Address address = Address.parse(ip);
        return address != null && NAMES.contains(address);
    }

    /// Whether an exchange is one that a guest has to have a network at all: DNS with the network's resolver, DHCP
    /// with its server, echoes of its own hosts, and what neighbours tell each other, which no router forwards.
    static boolean isUpkeep(RecordedFlow.Peer peer) {
        Address address = peer.ip() == null ? null : Address.parse(withoutZone(peer.ip()));
        if (address == null) {
            return false;
        }
        String ip = address.toString();
        int port = peer.port() == null ? 0 : peer.port();
        return switch (peer.protocol()) {
            case "tcp" -> false;
            case "udp" ->
                port == DNS && RESOLVERS.contains(ip)
                        || port == DHCP && DHCP_SERVERS.contains(ip)
                        || port == DHCP_V6 && ip.equals(DHCP_V6_SERVERS);
            default ->
                ECHOING.contains(ip)
                        || OWN_V6.contains(address)
                        || NEIGHBOURS.stream().anyMatch(range -> range.contains(address));
        };
    }

    /// Where QEMU's user network leads to with an address: all of its own are the recording host's loopback.
    static Address reached(Address address) {
        if (OWN.contains(address)) {
            return loopback("127.0.0.1");
        }
        return OWN_V6.contains(address) ? loopback("::1") : address;
    }

    private static Address loopback(String text) {
        return AddressRange.parse(text).base();
    }

    /// A scoped address (RFC 4007) without its zone, which only the guest knows.
    static String withoutZone(String ip) {
        int zone = ip.indexOf('%');
        return zone < 0 ? ip : ip.substring(0, zone);
    }

    private static String normal(String ip) {
        Address address = Address.parse(ip);
        return address == null ? ip : address.toString();
    }
}
