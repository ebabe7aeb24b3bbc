package blackbox.node.access;

/// What a request to the service needs.
public enum Right {
    /// To see which runs there are, how they ended and whether they verify.
    LIST,
    /// To read what was recorded.
    READ,
    /// To pause a run, let it go on and end it; and to have runs replayed, which takes the host's processors.
    OPERATE,
    /// To say yes to what somebody else asks for.
    APPROVE
}
