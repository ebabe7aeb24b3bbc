package blackbox.schemas.sign;

import blackbox.schemas.Sha256;
import blackbox.schemas.log.NoteVerifier;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import org.bouncycastle.crypto.params.Ed25519PublicKeyParameters;
import org.bouncycastle.crypto.signers.Ed25519Signer;

/// An Ed25519 public key under a name. Immutable.
public final class Ed25519Verifier implements NoteVerifier {

    /// Signature type of C2SP signed-note.
    static final byte TYPE = 1;

    private final String name;
    private final Ed25519PublicKeyParameters key;
    private final int keyId;

    Ed25519Verifier(String name, Ed25519PublicKeyParameters key) {
        if (name.isEmpty() || name.chars().anyMatch(c -> c <= ' ' || c == '+')) {
            throw new IllegalArgumentException(
                    "a key's name has no spaces, plus signs or control characters: '" + name + "'");
        }
        this.name = name;
        this.key = key;
        this.keyId = keyId(name, key.getEncoded());
    }

    private static int keyId(String name, byte[] publicKey) {
        MessageDigest digest = Sha256.digest();
        digest.update((name + "\n").getBytes(StandardCharsets.UTF_8));
        digest.update(TYPE);
        return ByteBuffer.wrap(digest.digest(publicKey)).getInt();
    }

    /// Reads a verifier key, `<name>+<key id>+<base64 of type and public key>`.
    ///
    /// @throws IllegalArgumentException when it is not an Ed25519 one or its id does not fit
    public static Ed25519Verifier parse(String encoded) {
        String[] parts = encoded.strip().split("\\+", 3);
        byte[] octets = parts.length == 3 ? Base64.getDecoder().decode(parts[2]) : new byte[0];
        if (octets.length != 33 || octets[0] != TYPE) {
            throw new IllegalArgumentException("not an Ed25519 verifier key: '" + encoded + "'");
        }
        var verifier = new Ed25519Verifier(parts[0], new Ed25519PublicKeyParameters(octets, 1));
        if (!String.format("%08x", verifier.keyId).equals(parts[1])) {
            throw new IllegalArgumentException("the verifier key's id does not fit its key: '" + encoded + "'");
        }
        return verifier;
    }

    /// The key under `name` with these 32 octets (RFC 8032, section 5.1.5).
    ///
    /// @throws IllegalArgumentException when they are no public key
    public static Ed25519Verifier of(String name, byte[] publicKey) {
        if (publicKey.length != 32) {
            throw new IllegalArgumentException("an Ed25519 public key has 32 octets, not " + publicKey.length);
        }
        return new Ed25519Verifier(name, new Ed25519PublicKeyParameters(publicKey, 0));
    }

    /// A copy of the public key's 32 octets.
    public byte[] publicKey() {
        return key.getEncoded();
    }

    @Override
    public String encoded() {
        byte[] octets = ByteBuffer.allocate(33).put(TYPE).put(key.getEncoded()).array();
        return name + "+" + String.format("%08x", keyId) + "+"
                + Base64.getEncoder().encodeToString(octets);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int keyId() {
        return keyId;
    }

    @Override
    public boolean verify(byte[] text, byte[] signature) {
        var checker = new Ed25519Signer();
        checker.init(false, key);
        checker.update(text, 0, text.length);
        return signature.length == 64 && checker.verifySignature(signature);
    }

    @Override
    public String toString() {
        return encoded();
    }
}
