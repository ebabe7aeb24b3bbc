package blackbox.evidence.proof;

import java.io.IOException;

/// What was kept to make proofs faster is not what it should be: it is thrown away and made anew.
final class DamagedCacheException extends IOException {

    private static final long serialVersionUID = 1L;

    DamagedCacheException(String message) {
        super(message);
    }
}
