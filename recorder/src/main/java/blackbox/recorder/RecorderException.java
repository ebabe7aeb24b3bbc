package blackbox.recorder;

/// An operating failure of the recorder, with a code that callers act on and one sentence for people.
public final class RecorderException extends Exception {

    private static final long serialVersionUID = 1L;

    /// What failed.
    public enum Code {
        /// The spool cannot be written: nothing more is recorded.
        SPOOL,
        /// The log of runs cannot be written, or the existing log does not hold.
        RUN_LOG,
        /// A key cannot be read or created.
        KEY,
        /// The broker cannot be reached or refuses.
        BROKER,
        /// The log of runs cannot be anchored, for a reason on this host and not with an outside party.
        ANCHOR,
        /// A witness's record cannot be read or written: nothing is cosigned.
        WITNESS,
        /// A file that is stored beside the events cannot be read or made durable.
        CAPTURE,
        /// The recorder was closed or its writer has stopped.
        CLOSED
    }

    private final Code code;

    public RecorderException(Code code, String message) {
        super(message);
        this.code = code;
    }

    public RecorderException(Code code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public Code code() {
        return code;
    }
}
