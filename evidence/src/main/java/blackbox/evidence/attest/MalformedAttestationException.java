package blackbox.evidence.attest;

/// JSON that is not an envelope or not a statement of the form that is read here.
public final class MalformedAttestationException extends Exception {

    private static final long serialVersionUID = 1L;

    MalformedAttestationException(String message) {
        super(message);
    }

    MalformedAttestationException(String message, Throwable cause) {
        super(message, cause);
    }
}
