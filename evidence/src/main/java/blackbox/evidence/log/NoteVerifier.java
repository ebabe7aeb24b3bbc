package blackbox.evidence.log;

/// A public key that checks signatures on notes (C2SP signed-note). Immutable and safe to share.
public interface NoteVerifier {

    /// The key's name, which signature lines carry.
    String name();

    /// First four octets of SHA-256(name, newline, key type, public key).
    int keyId();

    /// The verifier key as text, `<name>+<key id>+<base64 of type and public key>` (C2SP signed-note).
    String encoded();

    /// Whether `signature` is this key's over `text`.
    boolean verify(byte[] text, byte[] signature);
}
