package blackbox.policy.decide;

/// What has to be asked again before anything is let through, because it was not known yet.
public enum Need {
    /// The connection itself, once there is one.
    CONNECTION,
    /// The address that is about to be dialled.
    ADDRESS,
    /// Each HTTP request; a connection on which something else is spoken is refused.
    REQUEST,
    /// Each message to an MCP server.
    TOOL
}
