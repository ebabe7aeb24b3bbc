package blackbox.gateway.dial;

import blackbox.gateway.egress.Verdict;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// A destination that was allowed was not reached.
public final class DialException extends IOException {
    private static final long serialVersionUID = 1L;

    private final Cause cause;
    private final @Nullable String rule;
    private final @Nullable String address;

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
        this(cause, message, null, null);
    }

    private DialException(Cause cause, String message, @Nullable String rule, @Nullable String address) {
        super(message);
        this.cause = cause;
        this.rule = rule;
        this.address = address;
    }

    /// Not dialled, because of a verdict on an address of it.
    static DialException refused(String host, String address, Verdict verdict) {
        return new DialException(
                Cause.ADDRESS_REFUSED, host + " is not dialled: " + verdict.reason(), verdict.rule(), address);
    }

    /// The rule that refused its address; null where none did.
    public @Nullable String rule() {
        return rule;
    }

    /// The address that was refused; null where none was.
    public @Nullable String address() {
        return address;
    }

    /// Why it was not reached.
    public Cause reason() {
        return cause;
    }
}
