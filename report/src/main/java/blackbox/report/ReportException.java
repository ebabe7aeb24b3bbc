package blackbox.report;

/// A report cannot be signed as asked. The message is one sentence that says what is wrong and how to mend
/// it.
public final class ReportException extends Exception {
    private static final long serialVersionUID = 1L;

    ReportException(String message) {
        super(message);
    }

    ReportException(String message, Throwable cause) {
        super(message, cause);
    }
}
