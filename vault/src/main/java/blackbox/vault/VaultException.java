package blackbox.vault;

import java.io.IOException;

/// Why a payload cannot be read. An [IOException], because streams throw it, too.
public final class VaultException extends IOException {

    private static final long serialVersionUID = 1L;

    /// What is wrong.
    public enum Code {
        /// The run's payloads were shredded: nobody can read them anymore.
        SHREDDED,
        /// The run's key is not here, or the data folder's.
        NO_KEY,
        /// The run's key was wrapped with another data folder's key, or is damaged.
        WRONG_KEY,
        /// Something in the file is not what was written under its run and name.
        ALTERED,
        /// The file's end is missing. What was read of it before is genuine.
        CUT,
        /// There is no room for an encrypted copy.
        DISK_FULL
    }

    private final Code code;

    public VaultException(Code code, String message) {
        super(message);
        this.code = code;
    }

    public VaultException(Code code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public Code code() {
        return code;
    }
}
