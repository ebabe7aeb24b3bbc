package blackbox.evidence;

/// Evidence that was asked for cannot be provided: there is no such run or event, or nowhere to write it. The
/// message is one sentence that says what is wrong and how to fix it.
public final class EvidenceException extends Exception {

    private static final long serialVersionUID = 1L;

    public EvidenceException(String message) {
        super(message);
    }
}
