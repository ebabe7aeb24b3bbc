package blackbox.node.serve;

import blackbox.schemas.net.IpAddress;
import java.io.IOException;
import java.net.IDN;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.SequencedSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Where the API listens, and by which names clients may reach it.
///
/// @param host the name or IP address of an interface; an IPv6 address may be in brackets, and has none afterwards
/// @param port [ApiServer#ANY_PORT] takes a free one
/// @param names by which clients may reach it, besides `localhost` and IP addresses: host names, converted to
///     their ASCII form where they are in another script; IP addresses among them go into the certificate
/// @param patience how long a client may take to send a request, and how long a connection may stay without one
public record ApiAddress(String host, int port, List<String> names, Duration patience) {

    /// Ample for the 64 KB that a request may have.
    public static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final Pattern IP_ADDRESS = Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-fA-F:.%]+]");
    /// With underscores, which names in container networks contain.
    private static final Pattern HOST_NAME = Pattern.compile("[a-z0-9_.-]+");
    private static final Pattern PORT = Pattern.compile(":[0-9]{1,5}$");

    /// @throws IllegalArgumentException when a name is neither a host name nor an IP address
    public ApiAddress {
        host = IpAddress.withoutBrackets(host);
        names = names.stream().map(ApiAddress::hostName).toList();
    }

    private static String hostName(String given) {
        String bare = IpAddress.withoutBrackets(given);
        if (IpAddress.canonical(bare) != null) {
            return bare;
        }
        String name = IDN.toASCII(bare).toLowerCase(Locale.ROOT);
        if (IpAddress.canonical(name) == null && !HOST_NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("'" + given + "' is neither a host name nor an IP address");
        }
        return name;
    }

    /// The same, reachable by these names too. Wildcard names are left out: no request carries one.
    ApiAddress alsoCalled(Collection<String> more) {
        var all = new ArrayList<>(names);
        more.stream()
                .map(name -> name.toLowerCase(Locale.ROOT))
                .filter(name -> HOST_NAME.matcher(name).matches())
                .forEach(all::add);
        return new ApiAddress(host, port, all, patience);
    }

    /// Whether only this machine's own programs can connect.
    ///
    /// @throws UnknownHostException when the host cannot be resolved
    public boolean isLoopback() throws UnknownHostException {
        return InetAddress.getByName(host).isLoopbackAddress();
    }

    /// The names and addresses that a certificate for it must have. If it listens on all interfaces, these are the
    /// machine's name and the given names, not the interfaces' addresses: they change, the certificate would have
    /// to change with them, and it would show them to anyone who connects.
    ///
    /// @throws IOException when the host cannot be resolved
    public SequencedSet<String> certifiedNames() throws IOException {
        var certified = new LinkedHashSet<>(List.of("localhost", "127.0.0.1", "::1"));
        InetAddress listened = InetAddress.getByName(host);
        if (listened.isAnyLocalAddress()) {
            certified.addAll(ownName());
        } else {
            certified.add(withoutInterface(host).toLowerCase(Locale.ROOT));
            certified.add(withoutInterface(listened.getHostAddress()));
        }
        certified.addAll(names);
        return certified;
    }

    private static List<String> ownName() {
        try {
            return List.of(hostName(InetAddress.getLocalHost().getHostName()));
        } catch (UnknownHostException | IllegalArgumentException _) {
            return List.of(); // no client could use it
        }
    }

    /// An IPv6 address without its scope (RFC 4007, section 11), which no certificate can have.
    private static String withoutInterface(String address) {
        int scope = address.indexOf('%');
        return scope < 0 ? address : address.substring(0, scope);
    }

    /// Whether a request's `Host` may be answered. A page in somebody's browser can make its own name resolve to
    /// this address (DNS rebinding) and would then count as the same origin; but its name can be neither an IP
    /// address nor `localhost`.
    boolean answersTo(@Nullable String header) {
        if (header == null) {
            return false;
        }
        String name = PORT.matcher(header).replaceFirst("").toLowerCase(Locale.ROOT);
        return name.equals("localhost")
                || name.equalsIgnoreCase(host)
                || names.contains(name)
                || IP_ADDRESS.matcher(name).matches();
    }
}
