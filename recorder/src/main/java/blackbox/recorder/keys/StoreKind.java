package blackbox.recorder.keys;

/// Where a long-term key is stored.
public enum StoreKind {
    /// In files of mode 0600, encrypted if a passphrase is given.
    FILE("file"),
    /// In a PKCS#11 token, which it never leaves.
    PKCS11("pkcs11"),
    /// In this machine's TPM 2.0, which it never leaves.
    TPM("tpm");

    private final String word;

    StoreKind(String word) {
        this.word = word;
    }

    /// The word in settings and on the command line.
    public String word() {
        return word;
    }

    /// @throws IllegalArgumentException when there is no such store
    public static StoreKind of(String word) {
        for (StoreKind kind : values()) {
            if (kind.word.equals(word)) {
                return kind;
            }
        }
        throw new IllegalArgumentException("there is no key store '" + word + "'; choose file, pkcs11 or tpm");
    }
}
