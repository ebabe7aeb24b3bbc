package blackbox.schemas.event;

/// An IP address in its usual text form (RFC 5952 for IPv6; IPv4-mapped addresses as IPv4) and a port.
public record Endpoint(String ip, int port) {

    public Endpoint {
        if (port < 0 || port > 65_535) {
            throw new IllegalArgumentException("no port " + port);
        }
    }
}
