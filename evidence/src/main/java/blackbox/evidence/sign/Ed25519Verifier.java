package blackbox.evidence.sign;

import java.math.BigInteger;
import java.security.PublicKey;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// An Ed25519 public key under a name (C2SP signed-note, type 0x01). Immutable and safe to share.
///
/// The provider's rules decide the few signatures that RFC 8032 leaves open; its tests pin them down. A
/// shortcut may be asked first; it accepts nothing that the provider would not.
public final class Ed25519Verifier extends NamedVerifier {

    private static final int SIGNATURE_LENGTH = 64;

    /// The field's prime minus one, which is -1 in the field.
    private static final BigInteger MINUS_ONE = BigInteger.TWO.pow(255).subtract(BigInteger.valueOf(20));

    private static volatile LazyShortcut shortcut = LazyShortcut.NONE;

    private final PublicKey publicKey;

    /// Whether a shortcut may be asked: not for a key that has another encoding.
    private final boolean canonical;

    Ed25519Verifier(VerifierKey key) {
        super(key.require(KeyType.ED25519));
        this.publicKey = PublicKeys.decode(KeyType.ED25519, key.publicKey());
        this.canonical = isCanonical(key.publicKey());
    }

    /// Whether no other octets mean the same point (RFC 8032, section 5.1.3): y is below the prime, and neither 1 nor
    /// -1, where x is 0 and its sign could be either.
    private static boolean isCanonical(byte[] octets) {
        var bigEndian = new byte[octets.length];
        for (int i = 0; i < octets.length; i++) {
            bigEndian[i] = octets[octets.length - 1 - i];
        }
        bigEndian[0] &= 0x7f; // the sign of x
        var y = new BigInteger(bigEndian);
        return !y.equals(BigInteger.ONE) && y.compareTo(MINUS_ONE) < 0;
    }

    /// Reads a verifier key, `<name>+<key id>+<base64 of type and public key>`.
    ///
    /// @throws IllegalArgumentException when it is not an Ed25519 one or its id does not match
    public static Ed25519Verifier parse(String encoded) {
        return new Ed25519Verifier(VerifierKey.parse(encoded));
    }

    /// The key under `name` with these 32 octets (RFC 8032, section 5.1.5).
    ///
    /// @throws IllegalArgumentException when they are not a public key
    public static Ed25519Verifier of(String name, byte[] publicKey) {
        return new Ed25519Verifier(new VerifierKey(name, KeyType.ED25519, publicKey));
    }

    /// Has this process check signatures with a shortcut first, once there are many. The launcher calls this
    /// before anything is verified. In FIPS mode only the module is used, and this does nothing.
    ///
    /// @param source supplies it, or null if it is not available; called at most once, when it is needed
    public static void useShortcut(Supplier<? extends @Nullable Ed25519Shortcut> source) {
        if (!CryptoProvider.current().isFips()) {
            shortcut = new LazyShortcut(source);
        }
    }

    /// A copy of the public key's 32 octets.
    public byte[] publicKey() {
        return key().publicKey();
    }

    @Override
    public boolean verify(byte[] text, byte[] signature) {
        return signature.length == SIGNATURE_LENGTH
                && (canonical && shortcut.holds(key().publicKey(), text, signature)
                        || PublicKeys.verify(KeyType.ED25519, publicKey, text, signature));
    }
}
