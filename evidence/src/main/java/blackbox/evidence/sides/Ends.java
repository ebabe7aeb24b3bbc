package blackbox.evidence.sides;

import blackbox.schemas.net.IpAddress;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.NetView;
import org.jspecify.annotations.Nullable;

/// The ends of a connection or of an exchange of datagrams, by which both sides' events are found. The guest's own
/// address is left out: it has but one, and a socket that is not bound to it does not say it.
///
/// @param protocol `tcp` or `udp`
record Ends(String protocol, long localPort, String remoteIp, long remotePort) {

    static final String TCP = "tcp";
    static final String UDP = "udp";

    /// The guest's address behind a gateway, which is that of QEMU's user network.
    static final String GUEST = "10.0.2.15";

    private static final String MAPPED = "::ffff:";
    private static final String ANY = "0.0.0.0";
    private static final String ANY_V6 = "::";

    /// Of the host's event; null if it has none.
    static @Nullable Ends ofHost(NetView event) {
        return GUEST.equals(local(event)) ? of(event) : null;
    }

    /// Of the guest's event; null if it has none, or if they are not those of what leaves the guest: within it, or in a
    /// network namespace with another address.
    static @Nullable Ends ofGuest(NetView event) {
        String local = local(event);
        boolean bound = local == null || GUEST.equals(local);
        boolean unbound = ANY.equals(local) || ANY_V6.equals(local);
        Ends ends = bound || unbound ? of(event) : null;
        boolean inside = ends == null || ends.remoteIp.equals(GUEST) || IpAddress.isLoopback(ends.remoteIp);
        return inside ? null : ends;
    }

    private static @Nullable Ends of(NetView event) {
        Text protocol = event.protocol();
        Long localPort = event.localPort();
        Long remotePort = event.remotePort();
        String remote = address(event.remoteIp());
        if (protocol == null || localPort == null || remotePort == null || remote == null) {
            return null;
        }
        String name = protocol.toString();
        return name.equals(TCP) || name.equals(UDP)
                ? new Ends(name.equals(TCP) ? TCP : UDP, localPort, remote, remotePort)
                : null;
    }

    /// The guest's own address, as the event has it.
    static @Nullable String local(NetView event) {
        return address(event.localIp());
    }

    private static @Nullable String address(@Nullable Text ip) {
        String address = ip == null ? null : ip.toString();
        return address != null && address.startsWith(MAPPED) && address.indexOf('.') > 0
                ? address.substring(MAPPED.length())
                : address;
    }

    boolean isTcp() {
        return protocol.equals(TCP);
    }

    String localText() {
        return GUEST + ":" + localPort;
    }

    String remoteText() {
        return remoteIp + ":" + remotePort;
    }
}
