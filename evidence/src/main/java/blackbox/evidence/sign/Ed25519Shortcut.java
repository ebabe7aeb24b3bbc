package blackbox.evidence.sign;

/// Finds faster than the provider of [blackbox.evidence.sign.CryptoProvider] that a signature is valid. Safe
/// for use by many threads.
///
/// It rejects nothing: a signature that it does not find valid is judged by the provider as if the shortcut
/// did not exist. It may accept only what the provider would accept too: `S B = R + k A` without the
/// cofactor, S below the group's order, R in its canonical encoding (RFC 8032, section 5.1).
@FunctionalInterface
public interface Ed25519Shortcut {

    /// Whether it finds the signature valid.
    ///
    /// @param publicKey 32 octets, a point in its only encoding
    /// @param text what was signed
    /// @param signature 64 octets
    boolean holds(byte[] publicKey, byte[] text, byte[] signature);
}
