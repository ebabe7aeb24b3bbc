package blackbox.policy.decide;

import blackbox.policy.host.Address;
import blackbox.policy.host.HostName;
import blackbox.policy.host.RequestPath;
import org.jspecify.annotations.Nullable;

/// What is known of a request, normalised; null is what is not known at its stage.
///
/// @param host null for a connection to an address
/// @param rpcMethod null also where a message is an answer
/// @param tool null also where a message calls no tool
record Facts(
        Stage stage,
        @Nullable HostName host,
        @Nullable Address address,
        @Nullable Integer port,
        @Nullable String exe,
        @Nullable String method,
        @Nullable RequestPath path,
        @Nullable String rpcMethod,
        @Nullable String tool) {

    /// @throws IllegalArgumentException with a clause about the name that is none
    static Facts of(Request request) {
        Connection connection = request.connection();
        Exchange exchange = request.exchange();
        String name = request instanceof Request.Dns dns ? dns.name() : connection == null ? null : connection.host();
        return new Facts(
                request.stage(),
                name == null ? null : HostName.of(name),
                connection == null ? null : connection.address(),
                connection == null ? null : Integer.valueOf(connection.port()),
                request instanceof Request.Dns dns ? dns.exe() : connection == null ? null : connection.exe(),
                exchange == null ? null : exchange.method(),
                exchange == null ? null : RequestPath.of(exchange.target()),
                request instanceof Request.Mcp mcp ? mcp.method() : null,
                request instanceof Request.Mcp mcp ? mcp.tool() : null);
    }

    /// Whom it is about, for people.
    String peer() {
        return host != null ? host.toString() : String.valueOf(address);
    }

    boolean hasRequest() {
        return method != null;
    }
}
