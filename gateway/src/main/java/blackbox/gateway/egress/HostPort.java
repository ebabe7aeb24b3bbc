package blackbox.gateway.egress;

/// Where to dial.
///
/// @param host a name, or an address without brackets
public record HostPort(String host, int port) {

    public HostPort {
        if (host.isEmpty() || port < 1 || port > 65_535) {
            throw new IllegalArgumentException("nowhere to dial: \"" + host + "\", port " + port);
        }
    }
}
