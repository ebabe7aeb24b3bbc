package blackbox.evidence.sign;

import blackbox.evidence.log.NoteSigner;
import java.security.SecureRandom;
import javax.security.auth.Destroyable;

/// An Ed25519 private key that signs notes under a name. Used by one thread at a time.
public final class Ed25519Key implements NoteSigner, Destroyable {

    private final Seed seed;
    private final VerifierKey key;
    private final Ed25519Verifier verifier;

    private Ed25519Key(Seed seed, VerifierKey key) {
        this.seed = seed;
        this.key = key;
        this.verifier = new Ed25519Verifier(key);
    }

    /// A new key.
    public static Ed25519Key create(String name, SecureRandom random) {
        Seed seed = Seed.create(KeyType.ED25519, random);
        return new Ed25519Key(seed, seed.verifierKey(name));
    }

    /// The key derived from 32 octets, of which a copy is kept.
    public static Ed25519Key ofSeed(String name, byte[] octets) {
        Seed seed = Seed.of(KeyType.ED25519, octets.clone());
        return new Ed25519Key(seed, seed.verifierKey(name));
    }

    /// Reads what [#encoded] wrote.
    ///
    /// @throws IllegalArgumentException when it is not such a key
    public static Ed25519Key parse(String encoded) {
        Seed.Named named = Seed.parse(encoded).require(KeyType.ED25519);
        return new Ed25519Key(named.seed(), named.key());
    }

    /// The same from octets, of which no text is made; the caller clears them.
    public static Ed25519Key parse(byte[] encoded) {
        Seed.Named named = Seed.parse(encoded).require(KeyType.ED25519);
        return new Ed25519Key(named.seed(), named.key());
    }

    /// The key as text, `PRIVATE+KEY+<name>+<key id>+<base64 of type and seed>`: a secret.
    public String encoded() {
        return seed.text(key);
    }

    /// A copy of the 32 octets from which it is derived: a secret.
    public byte[] seed() {
        return seed.octets();
    }

    @Override
    public Ed25519Verifier verifier() {
        return verifier;
    }

    /// @throws IllegalStateException when the key was destroyed
    @Override
    public byte[] sign(byte[] text) {
        return seed.sign(text);
    }

    /// Zeroes what is held of the private key; from now on it signs nothing. What the JVM may have copied
    /// elsewhere in memory cannot be reached ([Seed]).
    @Override
    public void destroy() {
        seed.destroy();
    }

    @Override
    public boolean isDestroyed() {
        return seed.isDestroyed();
    }
}
