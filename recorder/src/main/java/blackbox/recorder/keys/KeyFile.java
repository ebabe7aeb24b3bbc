package blackbox.recorder.keys;

import blackbox.evidence.sign.CryptoProvider;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;

/// A signing key in a file of mode 0600, with its verifier key beside it as `<name>.pub`.
public final class KeyFile {

    private static final String INGEST = "ingest";

    private KeyFile() {}

    /// The key that seals a data folder's files, which ingest writes; created if it does not exist.
    ///
    /// @throws RecorderException when the file cannot be read, holds no key, or is readable by others
    public static Ed25519Key ofIngest(DataFolder data) throws RecorderException {
        return loadOrCreate(data.keys(), INGEST);
    }

    /// Reads `<folder>/<role>.key`, or creates it if it does not exist. The key's name is `blackbox/<role>`.
    ///
    /// @throws RecorderException when the file cannot be read, holds no key, or is readable by others
    public static Ed25519Key loadOrCreate(Path folder, String role) throws RecorderException {
        Path file = folder.resolve(role + ".key");
        try {
            createOnce(folder, role, file);
            byte[] octets = OwnerFile.readSecret(file);
            try {
                return Ed25519Key.parse(octets);
            } finally {
                Arrays.fill(octets, (byte) 0);
            }
        } catch (IOException | IllegalArgumentException e) {
            throw new RecorderException(
                    RecorderException.Code.KEY, "cannot use the key file " + file + ": " + e.getMessage(), e);
        }
    }

    private static void createOnce(Path folder, String role, Path file) throws IOException {
        if (OwnerFile.exists(file)) {
            return;
        }
        try (ProcessLock _ = KeysLock.take(folder)) {
            if (!OwnerFile.exists(file)) {
                create(folder, role, file);
            }
        }
    }

    private static void create(Path folder, String role, Path file) throws IOException {
        Ed25519Key key =
                Ed25519Key.create("blackbox/" + role, CryptoProvider.current().random());
        OwnerFile.writePublic(folder.resolve(role + ".pub"), key.verifier().encoded() + "\n");
        OwnerFile.write(file, key.encoded() + "\n");
    }
}
