package blackbox.vault.age;

import java.io.IOException;

/// Why a file in the form of age cannot be opened. An [IOException], because streams throw it, too.
public final class AgeException extends IOException {

    private static final long serialVersionUID = 1L;

    /// What is wrong.
    public enum Code {
        /// It is not a file of this form, or not one that is accepted here.
        MALFORMED,
        /// No key that was given opens it.
        WRONG_KEY,
        /// Something in it is not what was written.
        ALTERED,
        /// Its end is missing.
        CUT
    }

    private final Code code;

    AgeException(Code code, String message) {
        super(message);
        this.code = code;
    }

    public Code code() {
        return code;
    }
}
