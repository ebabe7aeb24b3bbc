package blackbox.recorder.keys;

import blackbox.evidence.sign.CosignatureKey;
import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/// The key of this folder's witness: `witness.key` of mode 0600, and its verifier key beside it as
/// `witness.vkey`.
///
/// It is in the witness's own folder and not among the keys that verification on this machine trusts: those
/// whose logs it witnesses state in their policies whether they trust it.
public final class WitnessKeyFile {

    private static final String FILE = "witness.key";

    private WitnessKeyFile() {}

    /// Reads the key, or creates an Ed25519 one named `blackbox/witness/<ulid>`.
    ///
    /// @throws RecorderException when the file cannot be read, holds no key, or is readable by others
    public static CosignatureKey loadOrCreate(Path folder, KeyAccess access) throws RecorderException {
        Path file = folder.resolve(FILE);
        try {
            Files.createDirectories(folder);
            try (ProcessLock _ = KeysLock.take(folder)) {
                if (!OwnerFile.exists(file)) {
                    create(folder, file, access);
                }
            }
            return CosignatureKey.parse(OwnerFile.read(file).strip());
        } catch (IOException | IllegalArgumentException e) {
            throw new RecorderException(Code.KEY, "cannot use the key file " + file + ": " + e.getMessage(), e);
        }
    }

    private static void create(Path folder, Path file, KeyAccess access) throws IOException {
        Instant now = access.clock().instant();
        CosignatureKey key =
                CosignatureKey.createEd25519("blackbox/witness/" + RunId.create(now, access.random()), access.random());
        OwnerFile.writePublic(folder.resolve("witness.vkey"), key.verifier().encoded() + "\n");
        OwnerFile.write(file, key.encoded() + "\n");
    }
}
