package blackbox.evidence;

import blackbox.evidence.sign.Ed25519Shortcut;
import blackbox.evidence.sign.Ed25519Verifier;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// Signatures that the JDK has found valid, so that a test which verifies the same files ten thousand times has the
/// JDK check each only once. Knows one by its key, its text and all of its octets: where one octet differs it is
/// checked
/// like any other. In force, for the whole process, until it is closed.
public final class KnownSignatures implements Ed25519Shortcut, AutoCloseable {
    /// SubjectPublicKeyInfo up to the key's octets (RFC 8410, section 4).
    private static final byte[] HEADER = HexFormat.of().parseHex("302a300506032b6570032100");

    private final Set<Known> valid = ConcurrentHashMap.newKeySet();

    /// What was signed by whom, and the signature. Buffers are equal if their octets are.
    private record Known(ByteBuffer publicKey, ByteBuffer text, ByteBuffer signature) {
        static Known of(byte[] publicKey, byte[] text, byte[] signature) {
            return new Known(
                    ByteBuffer.wrap(publicKey.clone()),
                    ByteBuffer.wrap(text.clone()),
                    ByteBuffer.wrap(signature.clone()));
        }
    }

    private KnownSignatures() {}

    public static KnownSignatures use() {
        var known = new KnownSignatures();
        Ed25519Verifier.useShortcut(() -> known);
        return known;
    }

    /// Whether it was valid before, or is now.
    @Override
    public boolean holds(byte[] publicKey, byte[] text, byte[] signature) {
        Known asked = Known.of(publicKey, text, signature);
        return valid.contains(asked) || isValid(publicKey, text, signature) && valid.add(asked);
    }

    /// How many it has found valid, each counted once.
    public int count() {
        return valid.size();
    }

    private static boolean isValid(byte[] publicKey, byte[] text, byte[] signature) {
        byte[] encoded = ByteBuffer.allocate(HEADER.length + publicKey.length)
                .put(HEADER)
                .put(publicKey)
                .array();
        try {
            PublicKey key = KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(encoded));
            Signature checker = Signature.getInstance("Ed25519");
            checker.initVerify(key);
            checker.update(text);
            return checker.verify(signature);
        } catch (GeneralSecurityException e) {
            return false; // the verifier's own check says so too
        }
    }

    @Override
    public void close() {
        Ed25519Verifier.useShortcut(() -> null);
    }
}
