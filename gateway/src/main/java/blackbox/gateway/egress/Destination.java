package blackbox.gateway.egress;

import org.jspecify.annotations.Nullable;

/// What a guest wants to reach.
///
/// @param host the name for which it was given this address, in lower case and without a final dot; null if it used an
///     address that no name was answered with
/// @param address what it sent to, as [blackbox.schemas.net.IpAddress] writes it
/// @param reached where the host is connected to for it, in the same form; null if it is not yet
/// @param upstream what was dialled in its place; null if nothing was
/// @param exe the absolute path of the program that wants to; null if it was not asked for or is not known
public record Destination(
        @Nullable String host,
        String address,
        int port,
        Protocol protocol,
        @Nullable String reached,
        @Nullable HostPort upstream,
        @Nullable String exe) {

    /// One that nobody is connected to yet.
    public Destination(@Nullable String host, String address, int port, Protocol protocol) {
        this(host, address, port, protocol, null, null, null);
    }

    /// The same, wanted by a program.
    public Destination wantedBy(@Nullable String program) {
        return new Destination(host, address, port, protocol, reached, upstream, program);
    }

    /// The same, once the host is connected.
    public Destination at(String ip, @Nullable HostPort dialled) {
        return new Destination(host, address, port, protocol, ip, dialled, exe);
    }

    /// The name, or the address where there is none.
    public String text() {
        return (host == null ? address : host) + ":" + port;
    }

    /// Whether the host is connected to itself for it.
    public boolean isLoopback() {
        return reached != null && (reached.startsWith("127.") || reached.equals("::1"));
    }
}
