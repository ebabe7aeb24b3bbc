package blackbox.gateway.dial;

import java.io.IOException;

/// A destination that was allowed was not reached.
public final class DialException extends IOException {
    private static final long serialVersionUID = 1L;

    private final Cause cause;

    /// Why.
    public enum Cause {
        /// The name has no address.
        NO_ADDRESS,
        /// It has an address that must not be dialled.
        ADDRESS_REFUSED,
        /// The other side refuses connections there.
        REFUSED,
        /// No connection came about.
        UNREACHABLE,
        /// None came about in time.
        TIMED_OUT,
        /// Too many were being dialled.
        OVERLOADED
    }

    public DialException(Cause cause, String message) {
        super(message);
        this.cause = cause;
    }

    /// Why it was not reached.
    public Cause reason() {
        return cause;
    }
}
