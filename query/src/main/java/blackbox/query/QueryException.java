package blackbox.query;

/// Why a question could not be answered. `code` decides the exit code and the HTTP status; the message is one
/// sentence that says what is wrong and how to fix it.
public final class QueryException extends Exception {

    private static final long serialVersionUID = 1L;

    /// What kind of failure it is.
    public enum Code {
        /// The question is wrong: no such run, an ambiguous prefix, SQL that is not a SELECT.
        BAD_INPUT,
        /// There is no such run.
        NOT_FOUND,
        /// A recording cannot be read: the disk, or a file that is not what it should be.
        STORE,
        /// The query engine failed, or took too long.
        ENGINE
    }

    private final Code code;

    public QueryException(Code code, String message) {
        super(message);
        this.code = code;
    }

    public QueryException(Code code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public Code code() {
        return code;
    }
}
