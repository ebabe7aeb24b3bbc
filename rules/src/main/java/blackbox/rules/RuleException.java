package blackbox.rules;

/// A rule that cannot be used, and why.
public final class RuleException extends Exception {
    private static final long serialVersionUID = 1L;

    public enum Code {
        /// It is no rule, or a wrong one.
        MALFORMED,
        /// It is a rule, but asks for what Blackbox does not record or does not know.
        UNSUPPORTED
    }

    private final Code code;

    /// @param why a clause without the rule's name
    public RuleException(Code code, String why) {
        super(why);
        this.code = code;
    }

    public Code code() {
        return code;
    }
}
