package blackbox.schemas.sign;

import java.security.PublicKey;

/// An Ed25519 public key under a name (C2SP signed-note, type 0x01). Immutable and safe to share.
///
/// The provider's rules decide the few signatures that RFC 8032 leaves open; its tests pin them down.
public final class Ed25519Verifier extends NamedVerifier {

    private static final int SIGNATURE_LENGTH = 64;

    private final PublicKey publicKey;

    Ed25519Verifier(VerifierKey key) {
        super(key.require(KeyType.ED25519));
        this.publicKey = PublicKeys.decode(KeyType.ED25519, key.publicKey());
    }

    /// Reads a verifier key, `<name>+<key id>+<base64 of type and public key>`.
    ///
    /// @throws IllegalArgumentException when it is not an Ed25519 one or its id does not fit
    public static Ed25519Verifier parse(String encoded) {
        return new Ed25519Verifier(VerifierKey.parse(encoded));
    }

    /// The key under `name` with these 32 octets (RFC 8032, section 5.1.5).
    ///
    /// @throws IllegalArgumentException when they are no public key
    public static Ed25519Verifier of(String name, byte[] publicKey) {
        return new Ed25519Verifier(new VerifierKey(name, KeyType.ED25519, publicKey));
    }

    /// A copy of the public key's 32 octets.
    public byte[] publicKey() {
        return key().publicKey();
    }

    @Override
    public boolean verify(byte[] text, byte[] signature) {
        return signature.length == SIGNATURE_LENGTH && PublicKeys.verify(KeyType.ED25519, publicKey, text, signature);
    }
}
