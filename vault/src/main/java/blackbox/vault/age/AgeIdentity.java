package blackbox.vault.age;

import java.security.SecureRandom;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// A secret key that opens what was encrypted to its public one. Immutable; never printed but by [#text].
public final class AgeIdentity implements AgeUnlock {

    private static final String PREFIX = "age-secret-key-";

    private final byte[] secret;
    private final byte[] recipient;

    private AgeIdentity(byte[] secret) {
        this.secret = secret;
        this.recipient = AgeCrypto.publicKey(secret);
    }

    /// A new one.
    public static AgeIdentity create(SecureRandom random) {
        var secret = new byte[AgeCrypto.KEY_BYTES];
        random.nextBytes(secret);
        return new AgeIdentity(secret);
    }

    /// Reads `AGE-SECRET-KEY-1…`.
    ///
    /// @throws IllegalArgumentException when it is none; the message does not repeat it
    public static AgeIdentity parse(String text) {
        byte[] secret = Bech32.decode(PREFIX, text);
        if (secret == null || secret.length != AgeCrypto.KEY_BYTES) {
            throw new IllegalArgumentException("an identity is a line that begins with AGE-SECRET-KEY-1");
        }
        return new AgeIdentity(secret);
    }

    /// Its public key.
    public AgeRecipient recipient() {
        return new AgeRecipient(recipient);
    }

    /// `AGE-SECRET-KEY-1…`, to be stored where only its owner can read it.
    public String text() {
        return Bech32.encode(PREFIX, secret).toUpperCase(Locale.ROOT);
    }

    @Override
    public byte @Nullable [] unwrap(AgeStanza stanza) throws AgeException {
        if (!stanza.kind().equals(AgeRecipient.KIND)) {
            return null;
        }
        byte[] share =
                stanza.words().size() == 2 ? AgeHeader.octets(stanza.words().get(1), AgeCrypto.KEY_BYTES) : null;
        if (share == null || stanza.body().length != AgeCrypto.FILE_KEY_BYTES + AgeCrypto.TAG_BYTES) {
            throw new AgeException(AgeException.Code.MALFORMED, "its header has a recipient that is none");
        }
        byte[] shared = AgeCrypto.x25519(secret, share);
        if (shared == null) {
            throw new AgeException(AgeException.Code.MALFORMED, "its header has a recipient that is none");
        }
        return AgeCrypto.open(AgeRecipient.wrapping(shared, share, recipient), stanza.body());
    }

    @Override
    public String toString() {
        return "the identity of " + recipient();
    }
}
