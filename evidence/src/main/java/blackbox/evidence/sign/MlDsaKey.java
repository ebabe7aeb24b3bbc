package blackbox.evidence.sign;

import blackbox.evidence.log.NoteSigner;
import java.security.SecureRandom;
import javax.security.auth.Destroyable;

/// An ML-DSA-44 or ML-DSA-65 private key that signs notes under a name, beside a classical one. Used by one
/// thread at a time.
public final class MlDsaKey implements NoteSigner, Destroyable {

    private final Seed seed;
    private final VerifierKey key;
    private final MlDsaVerifier verifier;

    private MlDsaKey(Seed seed, VerifierKey key) {
        this.seed = seed;
        this.key = key;
        this.verifier = new MlDsaVerifier(key);
    }

    /// A new ML-DSA-44 key.
    ///
    /// @throws UnsupportedOperationException when this process has no ML-DSA, as in FIPS mode
    public static MlDsaKey create44(String name, SecureRandom random) {
        return of(name, Seed.create(KeyType.ML_DSA_44, random));
    }

    /// The ML-DSA-44 key derived from 32 octets, of which a copy is kept.
    public static MlDsaKey ofSeed44(String name, byte[] octets) {
        return of(name, Seed.of(KeyType.ML_DSA_44, octets.clone()));
    }

    private static MlDsaKey of(String name, Seed seed) {
        return new MlDsaKey(seed, seed.verifierKey(name));
    }

    /// Reads what [#encoded] wrote.
    ///
    /// @throws IllegalArgumentException when it is not such a key
    public static MlDsaKey parse(String encoded) {
        Seed.Named named = Seed.parse(encoded);
        return new MlDsaKey(named.seed(), named.key());
    }

    /// The same from octets, of which no text is made; the caller clears them.
    public static MlDsaKey parse(byte[] encoded) {
        Seed.Named named = Seed.parse(encoded);
        return new MlDsaKey(named.seed(), named.key());
    }

    /// The key as text, `PRIVATE+KEY+<name>+<key id>+<base64 of type, identifier and seed>`: a secret.
    public String encoded() {
        return seed.text(key);
    }

    /// A copy of the 32 octets from which it is derived: a secret.
    public byte[] seed() {
        return seed.octets();
    }

    @Override
    public MlDsaVerifier verifier() {
        return verifier;
    }

    /// @throws IllegalStateException when the key was destroyed
    @Override
    public byte[] sign(byte[] text) {
        return seed.sign(text);
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
