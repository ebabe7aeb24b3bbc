package blackbox.policy;

/// What becomes of what a policy does not allow.
public enum Mode {
    /// It is refused.
    ENFORCE,
    /// It goes through and is recorded, except for what no policy may allow (`builtin:…`).
    OBSERVE
}
