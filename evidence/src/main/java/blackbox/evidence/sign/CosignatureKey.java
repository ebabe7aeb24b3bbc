package blackbox.evidence.sign;

import blackbox.evidence.log.Cosignature;
import java.security.SecureRandom;
import javax.security.auth.Destroyable;

/// A witness's private key, which signs checkpoints at a time that the caller gives (C2SP tlog-cosignature).
/// Used by one thread at a time.
public final class CosignatureKey implements Destroyable {

    private final Seed seed;
    private final VerifierKey key;
    private final CosignatureVerifier verifier;

    private CosignatureKey(Seed seed, VerifierKey key) {
        this.seed = seed;
        this.key = key;
        this.verifier = new CosignatureVerifier(key);
    }

    /// A new Ed25519 key, the type that every witness and client supports.
    public static CosignatureKey createEd25519(String name, SecureRandom random) {
        Seed seed = Seed.create(KeyType.ED25519_COSIGNATURE, random);
        return new CosignatureKey(seed, seed.verifierKey(name));
    }

    /// A new ML-DSA-44 key.
    ///
    /// @throws UnsupportedOperationException when this process has no ML-DSA, as in FIPS mode
    public static CosignatureKey createMlDsa44(String name, SecureRandom random) {
        Seed seed = Seed.create(KeyType.ML_DSA_44_COSIGNATURE, random);
        return new CosignatureKey(seed, seed.verifierKey(name));
    }

    /// Reads what [#encoded] wrote.
    ///
    /// @throws IllegalArgumentException when it is not such a key
    public static CosignatureKey parse(String encoded) {
        Seed.Named named = Seed.parse(encoded);
        return new CosignatureKey(named.seed(), named.key());
    }

    /// The key as text, `PRIVATE+KEY+<name>+<key id>+<base64 of type and seed>`: a secret.
    public String encoded() {
        return seed.text(key);
    }

    public CosignatureVerifier verifier() {
        return verifier;
    }

    /// The content of this witness's signature line, after the key id, for the checkpoint `text`.
    ///
    /// @throws IllegalArgumentException when `text` is not a checkpoint
    /// @throws IllegalStateException when the key was destroyed
    public byte[] cosign(byte[] text, long epochSeconds) {
        byte[] message = CosignatureVerifier.message(key, epochSeconds, text);
        if (message.length == 0) {
            throw new IllegalArgumentException("a witness signs only checkpoints, and this is not one");
        }
        return new Cosignature(epochSeconds, seed.sign(message)).encoded();
    }

    /// Zeroes what is held of the private key; see [Ed25519Key#destroy].
    @Override
    public void destroy() {
        seed.destroy();
    }

    @Override
    public boolean isDestroyed() {
        return seed.isDestroyed();
    }
}
