package blackbox.gateway.egress;

import org.jspecify.annotations.Nullable;

/// What a guest wants to reach.
///
/// @param host the name for which it was given this address, in lower case and without a final dot; null if it used an
///     address that no name was answered with
/// @param address what it sent to, as [blackbox.schemas.net.IpAddress] writes it
public record Destination(@Nullable String host, String address, int port, Protocol protocol) {

    /// The name, or the address where there is none.
    public String text() {
        return (host == null ? address : host) + ":" + port;
    }
}
