package blackbox.evidence.log;

/// A private key that signs notes. Used by one thread at a time.
public interface NoteSigner {

    NoteVerifier verifier();

    /// This key's signature over `text`.
    byte[] sign(byte[] text);
}
