package blackbox.evidence.proof;

import java.io.IOException;

/// The cache that makes proofs faster is not what it should be: it is discarded and rebuilt.
final class DamagedCacheException extends IOException {

    private static final long serialVersionUID = 1L;

    DamagedCacheException(String message) {
        super(message);
    }
}
