package blackbox.node.access;

/// What a request to the service needs.
public enum Right {
    /// To see which runs there are, how they ended and whether they verify.
    LIST,
    /// To read what was recorded.
    READ,
    /// To pause a run, let it go on and end it.
    STOP,
    /// To say yes to what somebody else asks for.
    APPROVE
}
