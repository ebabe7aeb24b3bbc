package blackbox.evidence.proof;

/// Octets that are not a proof of an event of a known version. The message continues "the proof is malformed:
/// ".
public final class MalformedProofException extends Exception {

    private static final long serialVersionUID = 1L;

    public MalformedProofException(String message) {
        super(message);
    }

    public MalformedProofException(String message, Throwable cause) {
        super(message, cause);
    }
}
