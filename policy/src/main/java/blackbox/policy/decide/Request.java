package blackbox.policy.decide;

import org.jspecify.annotations.Nullable;

/// What a policy is asked: one record for each [Stage], with what is known there.
public sealed interface Request {

    /// A name is asked for.
    ///
    /// @param name as it was asked
    /// @param type of the record: `A`, `TXT`
    /// @param exe as in [Connection]
    record Dns(String name, String type, @Nullable String exe) implements Request {}

    /// A connection is asked for; asked again when its address is known.
    record Connect(Connection connection) implements Request {}

    /// A ClientHello has arrived.
    ///
    /// @param serverName as it was sent; null if there is none
    record Tls(Connection connection, @Nullable String serverName) implements Request {}

    /// The head of a request has arrived.
    ///
    /// @param serverName that of the TLS connection; null if there is none
    record Http(Connection connection, @Nullable String serverName, Exchange exchange) implements Request {}

    /// The head of a request has arrived that asks for a WebSocket; over HTTP/2 (RFC 8441) its method is `GET`
    /// here.
    record WebSocket(Connection connection, @Nullable String serverName, Exchange exchange) implements Request {}

    /// A message to an MCP server has arrived.
    ///
    /// @param method of JSON-RPC; null for an answer to the server
    /// @param tool the tool that it calls; null if it calls none
    record Mcp(
            Connection connection,
            @Nullable String serverName,
            Exchange exchange,
            @Nullable String method,
            @Nullable String tool)
            implements Request {

        /// The method that calls a tool.
        public static final String CALL = "tools/call";
    }

    /// Where in the life of a connection it is asked.
    default Stage stage() {
        return switch (this) {
            case Dns _ -> Stage.DNS;
            case Connect _ -> Stage.CONNECT;
            case Tls _ -> Stage.TLS;
            case Http _ -> Stage.HTTP;
            case WebSocket _ -> Stage.WS;
            case Mcp _ -> Stage.MCP;
        };
    }

    /// The connection, if there is one yet.
    default @Nullable Connection connection() {
        return switch (this) {
            case Dns _ -> null;
            case Connect connect -> connect.connection;
            case Tls tls -> tls.connection;
            case Http http -> http.connection;
            case WebSocket socket -> socket.connection;
            case Mcp mcp -> mcp.connection;
        };
    }

    /// The head of the request, if there is one yet.
    default @Nullable Exchange exchange() {
        return switch (this) {
            case Dns _, Connect _, Tls _ -> null;
            case Http http -> http.exchange;
            case WebSocket socket -> socket.exchange;
            case Mcp mcp -> mcp.exchange;
        };
    }

    /// The server name of the TLS connection, if there is one.
    default @Nullable String serverName() {
        return switch (this) {
            case Dns _, Connect _ -> null;
            case Tls tls -> tls.serverName;
            case Http http -> http.serverName;
            case WebSocket socket -> socket.serverName;
            case Mcp mcp -> mcp.serverName;
        };
    }
}
