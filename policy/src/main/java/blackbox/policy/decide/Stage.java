package blackbox.policy.decide;

import java.util.Locale;

/// When a decision is made; a later stage knows more.
public enum Stage {
    /// A name is asked for.
    DNS,
    /// A connection is asked for, or about to be dialled.
    CONNECT,
    /// A TLS client has said whom it wants.
    TLS,
    /// The head of a request has arrived.
    HTTP,
    /// A request asks for a WebSocket.
    WS,
    /// A message to an MCP server has arrived.
    MCP;

    /// As records and commands write it.
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
