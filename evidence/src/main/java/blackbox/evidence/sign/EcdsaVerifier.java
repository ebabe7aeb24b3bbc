package blackbox.evidence.sign;

import java.security.PublicKey;
import java.util.Arrays;
import java.util.HexFormat;

/// An ECDSA P-256 public key under a name (C2SP signed-note, type 0x02): signatures are DER (`SEQUENCE { r, s
/// }`) over SHA-256 of the text, and the key id is computed over the SubjectPublicKeyInfo alone. Immutable
/// and safe to share.
public final class EcdsaVerifier extends NamedVerifier {

    /// A SubjectPublicKeyInfo of an uncompressed point on P-256, up to the point's coordinates (RFC 5480).
    private static final byte[] SPKI_HEADER =
            HexFormat.of().parseHex("3059301306072a8648ce3d020106082a8648ce3d03010703420004");

    private static final int SPKI_LENGTH = SPKI_HEADER.length + 64;

    private final PublicKey publicKey;

    EcdsaVerifier(VerifierKey key) {
        byte[] spki = key.require(KeyType.ECDSA).publicKey();
        if (spki.length != SPKI_LENGTH || !Arrays.equals(SPKI_HEADER, Arrays.copyOf(spki, SPKI_HEADER.length))) {
            throw new IllegalArgumentException(
                    "the ECDSA key '" + key.name() + "' is not an uncompressed key on P-256");
        }
        super(key);
        this.publicKey = PublicKeys.decode(KeyType.ECDSA, spki);
    }

    /// A JCA public key, under a name.
    ///
    /// @throws IllegalArgumentException when it is not on P-256
    public static EcdsaVerifier of(String name, PublicKey publicKey) {
        return new EcdsaVerifier(new VerifierKey(name, KeyType.ECDSA, PublicKeys.encode(KeyType.ECDSA, publicKey)));
    }

    /// The DER of a SubjectPublicKeyInfo, under a name.
    ///
    /// @throws IllegalArgumentException when it is not an uncompressed key on P-256
    public static EcdsaVerifier ofSpki(String name, byte[] spki) {
        return new EcdsaVerifier(new VerifierKey(name, KeyType.ECDSA, spki));
    }

    @Override
    public boolean verify(byte[] text, byte[] signature) {
        return isStrictDer(signature) && PublicKeys.verify(KeyType.ECDSA, publicKey, text, signature);
    }

    /// The JDK's provider accepts an integer without its leading zero, so that one signature has two
    /// encodings; others refuse it. Here the encoding is checked before the provider sees it: a sequence of
    /// two positive integers, each in its shortest form, and nothing else. On P-256 every length fits in one
    /// octet.
    private static boolean isStrictDer(byte[] signature) {
        if (signature.length < 8 || signature.length > 72 || signature[0] != 0x30) {
            return false;
        }
        int second = 2 + integerLength(signature, 2);
        return signature[1] == signature.length - 2
                && second > 2
                && integerLength(signature, second) == signature.length - second;
    }

    /// How many octets the integer at `at` takes with its tag and length; 0 if there is none in proper form.
    private static int integerLength(byte[] der, int at) {
        if (at + 3 > der.length || der[at] != 0x02 || der[at + 1] < 1 || at + 2 + der[at + 1] > der.length) {
            return 0;
        }
        boolean isPositive = der[at + 2] >= 0;
        boolean isShortest = der[at + 1] == 1 || der[at + 2] != 0 || der[at + 3] < 0;
        return isPositive && isShortest ? 2 + der[at + 1] : 0;
    }
}
