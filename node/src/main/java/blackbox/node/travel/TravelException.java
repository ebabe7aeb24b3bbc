package blackbox.node.travel;

/// Why a run was not exported or imported. The message is one sentence that says what is wrong and how to mend it.
public final class TravelException extends Exception {

    private static final long serialVersionUID = 1L;

    /// What is wrong.
    public enum Code {
        /// What was asked for cannot be done: no such file, the wrong passphrase, something is there already.
        BAD_INPUT,
        /// Something is not what was sealed or written.
        ALTERED,
        /// The disk has no room.
        DISK_FULL,
        /// Another process is importing, or something failed in operation.
        FAILED
    }

    private final Code code;

    TravelException(Code code, String message) {
        super(message);
        this.code = code;
    }

    TravelException(Code code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public Code code() {
        return code;
    }
}
