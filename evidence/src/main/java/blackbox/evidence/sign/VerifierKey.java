package blackbox.evidence.sign;

import blackbox.schemas.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;

/// A public key under a name: the content of a verifier key, whatever its algorithm. Immutable.
final class VerifierKey {

    private final String name;
    private final KeyType type;
    private final byte[] publicKey;
    private final int id;

    /// @throws IllegalArgumentException when the name is not valid for a key, or the key has the wrong length
    VerifierKey(String name, KeyType type, byte[] publicKey) {
        if (name.isEmpty() || name.codePoints().anyMatch(VerifierKey::isBarredInNames)) {
            throw new IllegalArgumentException(
                    "a key's name has no spaces, plus signs or control characters: '" + name + "'");
        }
        if (!type.fitsPublicKey(publicKey.length)) {
            throw new IllegalArgumentException(
                    "the key '" + name + "' is not a public key for " + type.label() + ": " + publicKey.length + " B");
        }
        this.name = name;
        this.type = type;
        this.publicKey = publicKey.clone();
        this.id = id(name, type, publicKey);
    }

    private static boolean isBarredInNames(int c) {
        return c == '+' || Character.isWhitespace(c) || Character.isSpaceChar(c) || Character.isISOControl(c);
    }

    /// ECDSA keys have an id of their own kind: over the key alone.
    private static int id(String name, KeyType type, byte[] publicKey) {
        MessageDigest digest = Sha256.digest();
        if (type != KeyType.ECDSA) {
            digest.update((name + "\n").getBytes(StandardCharsets.UTF_8));
            digest.update(type.prefix());
        }
        return ByteBuffer.wrap(digest.digest(publicKey)).getInt();
    }

    /// Reads `<name>+<key id>+<base64 of type and public key>`.
    ///
    /// @throws IllegalArgumentException that says what is wrong with it
    static VerifierKey parse(String encoded) {
        String text = encoded.strip();
        String[] parts = text.split("\\+", 3);
        if (parts.length != 3 || !parts[1].matches("[0-9a-f]{8}")) {
            throw new IllegalArgumentException(
                    "not a verifier key, which is '<name>+<8 hex digits>+<base64>': '" + text + "'");
        }
        byte[] octets = decode(parts[2], text);
        KeyType type = KeyType.of(octets);
        if (type == null) {
            throw new IllegalArgumentException("the verifier key '" + text + "' is of type " + typeName(octets)
                    + ", which this version does not know");
        }
        var key = new VerifierKey(parts[0], type, Arrays.copyOfRange(octets, type.prefix().length, octets.length));
        if (!key.idText().equals(parts[1])) {
            throw new IllegalArgumentException(
                    "the verifier key's id does not match its key: '" + text + "' should have " + key.idText());
        }
        return key;
    }

    private static byte[] decode(String base64, String text) {
        try {
            byte[] octets = Base64.getDecoder().decode(base64);
            if (octets.length > 0 && Base64.getEncoder().encodeToString(octets).equals(base64)) {
                return octets;
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the verifier key '" + text + "' is not base64: " + e.getMessage(), e);
        }
        throw new IllegalArgumentException("the verifier key '" + text + "' is not canonical base64");
    }

    private static String typeName(byte[] octets) {
        return octets[0] == (byte) 0xff ? "0xff with an unknown identifier" : String.format("0x%02x", octets[0]);
    }

    VerifierKey require(KeyType wanted) {
        if (type != wanted) {
            throw new IllegalArgumentException("not an " + wanted.label() + " verifier key: '" + encoded() + "'");
        }
        return this;
    }

    String name() {
        return name;
    }

    KeyType type() {
        return type;
    }

    byte[] publicKey() {
        return publicKey.clone();
    }

    int id() {
        return id;
    }

    String idText() {
        return String.format("%08x", id);
    }

    String encoded() {
        byte[] prefix = type.prefix();
        byte[] octets = ByteBuffer.allocate(prefix.length + publicKey.length)
                .put(prefix)
                .put(publicKey)
                .array();
        return name + "+" + idText() + "+" + Base64.getEncoder().encodeToString(octets);
    }
}
