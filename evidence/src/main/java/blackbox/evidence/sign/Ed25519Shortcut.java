package blackbox.evidence.sign;

/// Finds sooner than the provider of [blackbox.evidence.sign.CryptoProvider] that a signature holds. Safe for
/// use by many threads.
///
/// It decides nothing: what it does not find to hold is judged by the provider as if it had not been asked.
/// What it finds must be what the provider would take too: `S B = R + k A` without the cofactor, S below the
/// group's order, R in its canonical encoding (RFC 8032, section 5.1).
@FunctionalInterface
public interface Ed25519Shortcut {

    /// Whether it finds that the signature holds.
    ///
    /// @param publicKey 32 octets, a point in its only encoding
    /// @param text what was signed
    /// @param signature 64 octets
    boolean holds(byte[] publicKey, byte[] text, byte[] signature);
}
