package blackbox.evidence.sign;

import blackbox.evidence.log.NoteVerifier;

/// Reads verifier keys of every type that is known here.
public final class NoteVerifiers {

    private NoteVerifiers() {}

    /// Reads a verifier key, `<name>+<key id>+<base64 of type and public key>` (C2SP signed-note).
    ///
    /// @throws IllegalArgumentException that says what is wrong: its form, its base64, its type, its length,
    /// its id, or that this process lacks its algorithm, as FIPS mode does ML-DSA
    public static NoteVerifier parse(String vkey) {
        VerifierKey key = VerifierKey.parse(vkey);
        try {
            return of(key);
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException("cannot use the key '" + key.name() + "': " + e.getMessage(), e);
        }
    }

    /// The name, for people, of a verifier key's algorithm, even one that this process lacks.
    ///
    /// @throws IllegalArgumentException when it is not a verifier key of a known type
    public static String algorithm(String vkey) {
        return VerifierKey.parse(vkey).type().label();
    }

    private static NoteVerifier of(VerifierKey key) {
        return switch (key.type()) {
            case ED25519 -> new Ed25519Verifier(key);
            case ECDSA -> new EcdsaVerifier(key);
            case ED25519_COSIGNATURE, ML_DSA_44_COSIGNATURE -> new CosignatureVerifier(key);
            case ML_DSA_44, ML_DSA_65 -> new MlDsaVerifier(key);
        };
    }
}
