package blackbox.evidence.time;

/// Octets that are not a time stamp, or not in the only form that is accepted.
public final class MalformedTimeStampException extends Exception {

    private static final long serialVersionUID = 1L;

    MalformedTimeStampException(String message) {
        super(message);
    }

    MalformedTimeStampException(String message, Throwable cause) {
        super(message, cause);
    }
}
