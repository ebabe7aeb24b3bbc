package blackbox.policy;

/// What is dialled in place of the name that the guest asked for.
///
/// @param host a name or an address in the form of [blackbox.policy.host.Address]
/// @param port 1 to 65535
public record Upstream(String host, int port) {
    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
