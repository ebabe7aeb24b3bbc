package blackbox.query.egress;

import org.jspecify.annotations.Nullable;

/// What tells flows apart.
///
/// @param local address and port in the guest; null if they are not known
record Endpoints(
        String protocol,
        @Nullable String local,
        @Nullable String ip,
        @Nullable Integer port) {

    Endpoints withoutLocal() {
        return new Endpoints(protocol, null, ip, port);
    }
}
