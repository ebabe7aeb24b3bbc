package blackbox.replay.fs;

import java.io.IOException;

/// An image that is not a file system that can be read here, or that contradicts itself.
public final class DamagedTreeException extends IOException {

    private static final long serialVersionUID = 1L;

    DamagedTreeException(String message) {
        super(message);
    }
}
