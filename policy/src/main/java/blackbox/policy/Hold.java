package blackbox.policy;

/// What an allowed connection waits for before it is opened.
public enum Hold {
    /// Nothing.
    NOTHING,
    /// The guest's own word that a process of its begins this connection: without it, it is refused.
    CONNECT
}
