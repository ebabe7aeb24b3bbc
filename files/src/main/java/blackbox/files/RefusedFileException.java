package blackbox.files;

import java.io.IOException;

/// A file that is not read, whatever is in it: it is longer than any such file can be, or no regular file.
public final class RefusedFileException extends IOException {

    private static final long serialVersionUID = 1L;

    RefusedFileException(String message) {
        super(message);
    }
}
