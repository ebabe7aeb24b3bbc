package blackbox.evidence.trust;

import blackbox.evidence.sign.Ed25519Key;
import java.security.SecureRandom;
import java.util.Arrays;

/// Keys that are the same in every run of a test.
final class TrustKeys {

    private TrustKeys() {}

    /// The key with the seed 32 times `octet`.
    static Ed25519Key key(String name, int octet) {
        return Ed25519Key.create(name, new SecureRandom() {
            private static final long serialVersionUID = 1L;

            @Override
            public void nextBytes(byte[] bytes) {
                Arrays.fill(bytes, (byte) octet);
            }
        });
    }
}
