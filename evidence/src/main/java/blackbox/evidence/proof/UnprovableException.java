package blackbox.evidence.proof;

/// The recording in its present state does not lead to what was signed, so nothing can be proven from it. Not
/// an operating failure: the recording was changed.
public final class UnprovableException extends Exception {

    private static final long serialVersionUID = 1L;

    public UnprovableException(String message) {
        super(message);
    }
}
