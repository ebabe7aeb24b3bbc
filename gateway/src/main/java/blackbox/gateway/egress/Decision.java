package blackbox.gateway.egress;

import org.jspecify.annotations.Nullable;

/// A verdict, and on what. Also the gateway's own: those have no rule.
///
/// @param flow of the question or of the connection
/// @param host the name; null for an address that stands for none
/// @param what the type that was asked for, such as `A`; the port; where it was reached, `192.0.2.7:443`; the server
///     name, empty if there is none; method, authority and target with a space between, as they were sent; or the
/// messages of MCP
public record Decision(
        Stage stage,
        Outcome outcome,
        @Nullable String rule,
        String reason,
        Flow flow,
        @Nullable String host,
        String what) {

    /// Whether what was asked goes on.
    public boolean allowed() {
        return outcome.goesOn();
    }

    /// When it was made.
    public enum Stage {
        /// A name was asked for.
        DNS,
        /// A connection was to be opened.
        CONNECT,
        /// The host had resolved the name and looked at the addresses, and is connected.
        DIAL,
        /// A TLS client had said whom it wants.
        TLS,
        /// The head of a request had arrived.
        HTTP,
        /// The head of a request had arrived that asks for a WebSocket.
        WS,
        /// Octets were to pass on a connection that is not HTTP, or that is not looked into.
        FLOW,
        /// A body with messages to an MCP server had arrived.
        MCP
    }
}
