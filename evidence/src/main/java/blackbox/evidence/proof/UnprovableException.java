package blackbox.evidence.proof;

/// The recording as it is there does not lead to what was signed, so there is nothing to prove with. Not an
/// operating failure: somebody changed the recording.
public final class UnprovableException extends Exception {

    private static final long serialVersionUID = 1L;

    public UnprovableException(String message) {
        super(message);
    }
}
