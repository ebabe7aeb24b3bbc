package blackbox.schemas;

import java.security.MessageDigest;

/// SHA-256, the only hash of this project, from the provider that this process has chosen ([CryptoProvider]):
/// the JDK's own, which uses the CPU's instructions, or the FIPS module's.
public final class Sha256 {

    private Sha256() {}

    /// A fresh digest, owned by the caller's thread.
    public static MessageDigest digest() {
        return CryptoProvider.current().sha256();
    }
}
