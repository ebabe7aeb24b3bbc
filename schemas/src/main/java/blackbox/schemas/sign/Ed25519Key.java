package blackbox.schemas.sign;

import blackbox.schemas.log.NoteSigner;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import org.bouncycastle.crypto.params.Ed25519PrivateKeyParameters;
import org.bouncycastle.crypto.signers.Ed25519Signer;

/// An Ed25519 private key that signs notes under a name. Used by one thread at a time.
public final class Ed25519Key implements NoteSigner {

    private static final String PREFIX = "PRIVATE+KEY+";

    private final Ed25519PrivateKeyParameters key;
    private final Ed25519Verifier verifier;

    private Ed25519Key(String name, Ed25519PrivateKeyParameters key) {
        this.key = key;
        this.verifier = new Ed25519Verifier(name, key.generatePublicKey());
    }

    /// A new key.
    public static Ed25519Key create(String name, SecureRandom random) {
        return new Ed25519Key(name, new Ed25519PrivateKeyParameters(random));
    }

    /// Reads what [#encoded] wrote.
    ///
    /// @throws IllegalArgumentException when it is not such a key
    public static Ed25519Key parse(String encoded) {
        if (!encoded.startsWith(PREFIX)) {
            throw new IllegalArgumentException("not a private note key");
        }
        String[] parts = encoded.strip().substring(PREFIX.length()).split("\\+", 3);
        byte[] octets = parts.length == 3 ? Base64.getDecoder().decode(parts[2]) : new byte[0];
        if (octets.length != 33 || octets[0] != Ed25519Verifier.TYPE) {
            throw new IllegalArgumentException("not an Ed25519 private note key");
        }
        var key = new Ed25519Key(parts[0], new Ed25519PrivateKeyParameters(octets, 1));
        if (!String.format("%08x", key.verifier.keyId()).equals(parts[1])) {
            throw new IllegalArgumentException("the private note key's id does not fit its key");
        }
        return key;
    }

    /// The key as text, `PRIVATE+KEY+<name>+<key id>+<base64 of type and seed>`: a secret.
    public String encoded() {
        var octets = new byte[33];
        octets[0] = Ed25519Verifier.TYPE;
        System.arraycopy(key.getEncoded(), 0, octets, 1, 32);
        String text = PREFIX + verifier.name() + "+" + String.format("%08x", verifier.keyId()) + "+"
                + Base64.getEncoder().encodeToString(octets);
        Arrays.fill(octets, (byte) 0);
        return text;
    }

    @Override
    public Ed25519Verifier verifier() {
        return verifier;
    }

    @Override
    public byte[] sign(byte[] text) {
        var signer = new Ed25519Signer();
        signer.init(true, key);
        signer.update(text, 0, text.length);
        return signer.generateSignature();
    }
}
