package blackbox.evidence;

/// Evidence that was asked for cannot be given: there is no such run or event, or nowhere to put it. The message is one
/// sentence that says what is wrong and how to mend it.
public final class EvidenceException extends Exception {

    private static final long serialVersionUID = 1L;

    public EvidenceException(String message) {
        super(message);
    }
}
