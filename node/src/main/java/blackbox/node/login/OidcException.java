package blackbox.node.login;

/// Somebody could not be logged in.
public final class OidcException extends Exception {
    private static final long serialVersionUID = 1L;

    private final Why why;

    /// Whose fault it is.
    public enum Why {
        /// What was sent does not log anybody in: a code that is used, forged or somebody else's.
        REFUSED,
        /// Whoever it is has no role here.
        NO_ROLE,
        /// The provider does not answer, or not as the protocol says.
        PROVIDER
    }

    OidcException(Why why, String message) {
        super(message);
        this.why = why;
    }

    OidcException(Why why, String message, Throwable cause) {
        super(message, cause);
        this.why = why;
    }

    public Why why() {
        return why;
    }
}
