package blackbox.vault;

import blackbox.schemas.RunId;
import java.nio.charset.StandardCharsets;

/// The two kinds of encrypted files, and what the octets of each are bound to: `schemas/payload.md`.
enum PayloadForm {
    /// A file beside a run's events.
    PAYLOAD("blackbox/payload/v1\n"),
    /// A run's key.
    RUN_KEY("blackbox/run-key/v1\n");

    /// Octets of an encrypted file's first line, which names the kind and the version.
    static final int MAGIC_BYTES = 20;

    private final String magic;

    PayloadForm(String magic) {
        this.magic = magic;
    }

    /// The file's first octets.
    byte[] magic() {
        return magic.getBytes(StandardCharsets.US_ASCII);
    }

    /// What a file of this kind is bound to.
    ///
    /// @param name the file's name in its run; empty for a key
    byte[] associated(RunId run, String name) {
        return (magic + run.value() + "\n" + name).getBytes(StandardCharsets.US_ASCII);
    }
}
