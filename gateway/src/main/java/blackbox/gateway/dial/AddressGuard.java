package blackbox.gateway.dial;

import blackbox.gateway.egress.AddressPrefix;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.Octets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Decides which addresses may be dialled: those that belong to hosts of the Internet, and not to this host or what is
/// near it (RFC 6890 and IANA's registries of special-purpose addresses). Whoever may name a host could otherwise name
/// one that resolves to the host's own services, or to a cloud's metadata.
public final class AddressGuard {
    private static final List<AddressPrefix> SPECIAL = Stream.of(
                    "0.0.0.0/8", // this network
                    "10.0.0.0/8", // private
                    "100.64.0.0/10", // shared, behind carriers
                    "127.0.0.0/8", // loopback
                    "168.63.129.16", // Azure's platform
                    "169.254.0.0/16", // link-local, and the metadata of most clouds
                    "172.16.0.0/12", // private
                    "192.0.0.0/24", // protocol assignments
                    "192.0.2.0/24", // documentation
                    "192.88.99.0/24", // 6to4 relays
                    "192.168.0.0/16", // private
                    "198.18.0.0/15", // benchmarks: the gateway's own
                    "198.51.100.0/24", // documentation
                    "203.0.113.0/24", // documentation
                    "224.0.0.0/4", // multicast
                    "240.0.0.0/4", // reserved, and broadcast
                    "2001::/23", // protocol assignments, Teredo among them: it carries an IPv4 address
                    "2001:db8::/32", // documentation
                    "2002::/16", // 6to4: it carries an IPv4 address
                    "3fff::/20") // documentation
            .map(AddressPrefix::parse)
            .toList();
    /// Of IPv6, what is not in here is loopback, local, multicast, or carries an IPv4 address (as NAT64 does).
    private static final AddressPrefix GLOBAL_V6 = AddressPrefix.parse("2000::/3");

    private final Supplier<Set<String>> own;

    /// @param own the addresses of this host, at the time
    public AddressGuard(Supplier<Set<String>> own) {
        this.own = own;
    }

    /// One that asks the host's interfaces each time.
    public static AddressGuard ofThisHost() {
        return new AddressGuard(() -> {
            try {
                return NetworkInterface.networkInterfaces()
                        .flatMap(NetworkInterface::inetAddresses)
                        .map(address -> IpAddress.text(address.getAddress()))
                        .collect(Collectors.toSet());
            } catch (SocketException e) {
                throw new UncheckedIOException("the host's interfaces cannot be listed", new IOException(e));
            }
        });
    }

    /// Why one of these must not be dialled; null if all may.
    ///
    /// @param allowed special addresses that may be dialled nevertheless
    public @Nullable String refusal(List<InetAddress> addresses, List<AddressPrefix> allowed) {
        Set<String> here = own.get();
        for (InetAddress address : addresses) {
            byte[] octets = unmapped(address.getAddress());
            String text = IpAddress.text(octets);
            if (allowed.stream().anyMatch(prefix -> prefix.includes(octets))) {
                continue;
            }
            if (here.contains(text)) {
                return text + " is an address of the recording host";
            }
            if (isSpecial(octets)) {
                return text + " is not a public address, and no rule names it";
            }
        }
        return null;
    }

    private static boolean isSpecial(byte[] octets) {
        return octets.length == 16 && !GLOBAL_V6.includes(octets)
                || SPECIAL.stream().anyMatch(prefix -> prefix.includes(octets));
    }

    /// The IPv4 address that an IPv6 one stands for, or the same.
    private static byte[] unmapped(byte[] octets) {
        String text = IpAddress.text(octets);
        return octets.length == 16 && !text.contains(":") ? Octets.ofAddress(text) : octets;
    }
}
