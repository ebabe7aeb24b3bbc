package blackbox.ingest;

import java.io.IOException;

/// An operating failure of ingest or of the embedded broker, with a code that callers act on and one sentence
/// for people.
public final class IngestException extends Exception {

    private static final long serialVersionUID = 1L;

    /// What failed.
    public enum Code {
        /// No space is left for the table, the quarantine or the broker's log.
        DISK_FULL,
        /// Reading or writing a file failed for another reason.
        DISK,
        /// The catalog cannot be read or written, or holds what this version cannot use.
        CATALOG,
        /// Another process ingests into the same table, or its broker uses the same folder.
        IN_USE,
        /// Another member of the group has gone on where this one was: what it had not committed is the
        /// other's.
        SUPERSEDED,
        /// The broker cannot be reached, refuses, or has stopped.
        BROKER,
        /// The requested port is taken.
        PORT_TAKEN,
        /// The service was stopped.
        STOPPED
    }

    private final Code code;

    public IngestException(Code code, String message) {
        super(message);
        this.code = code;
    }

    public IngestException(Code code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /// An I/O failure; a full disk is recognized by the system's message.
    public static IngestException ofIo(String what, IOException cause) {
        String reason = String.valueOf(cause.getMessage());
        boolean full = reason.contains("No space left") || reason.contains("Disk quota exceeded");
        String remedy = full ? "no space is left; free some, and ingest resumes by itself" : reason;
        return new IngestException(full ? Code.DISK_FULL : Code.DISK, what + ": " + remedy, cause);
    }

    public Code code() {
        return code;
    }
}
