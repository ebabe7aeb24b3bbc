package blackbox.replay;

import blackbox.query.QueryException;

/// Why a run was not replayed, or not shown. `code` decides the exit code; the message says what is wrong
/// and how to fix it.
public final class ReplayException extends Exception {

    private static final long serialVersionUID = 1L;

    /// What kind of failure it is.
    public enum Code {
        /// The request is wrong: a moment outside the run, a path that was not there.
        BAD_INPUT,
        /// Something that the replay needs is missing, and the message says where to get it.
        MISSING,
        /// Something differs from what the run sealed: nothing was started.
        ALTERED,
        /// The moment is behind the point where a re-execution parts from its recording, or is not in it.
        PARTED,
        /// QEMU, a tool or the disk failed.
        ENGINE
    }

    private final Code code;

    public ReplayException(Code code, String message) {
        super(message);
        this.code = code;
    }

    public ReplayException(Code code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public Code code() {
        return code;
    }

    /// The same for whoever answers questions about recordings.
    public QueryException asQueryException() {
        QueryException.Code answered = switch (code) {
            case BAD_INPUT, PARTED -> QueryException.Code.BAD_INPUT;
            case MISSING -> QueryException.Code.NOT_FOUND;
            case ALTERED -> QueryException.Code.STORE;
            case ENGINE -> QueryException.Code.ENGINE;
        };
        return new QueryException(answered, String.valueOf(getMessage()), this);
    }
}
