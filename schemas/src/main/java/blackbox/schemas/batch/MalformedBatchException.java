package blackbox.schemas.batch;

/// Octets that are not a batch. Carries one sentence that says why.
public final class MalformedBatchException extends Exception {

    private static final long serialVersionUID = 1L;

    public MalformedBatchException(String message) {
        super(message);
    }
}
