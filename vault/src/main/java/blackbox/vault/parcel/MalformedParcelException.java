package blackbox.vault.parcel;

import java.io.IOException;

/// The file is not a parcel as `schemas/parcel.md` specifies it, was cut, or was altered. An [IOException], because
/// streams throw it, too. Carries half a sentence that follows the file's name.
public final class MalformedParcelException extends IOException {

    private static final long serialVersionUID = 1L;

    MalformedParcelException(String message) {
        super(message);
    }

    MalformedParcelException(String message, Throwable cause) {
        super(message, cause);
    }
}
