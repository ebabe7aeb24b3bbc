package blackbox.node.keys;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.trust.KeyStatement.Role;
import blackbox.node.data.LocalTrust;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.LogKey;
import blackbox.recorder.keys.LogKeyConf;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.runlog.TransparencyLogWriter;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Replaces and revokes the keys of a data folder: changes the folder and states the change in the log of
/// runs, in such an order that an interrupted operation is completed by running it again.
public final class KeyRotation {

    private final DataFolder data;
    private final KeyAccess access;

    public KeyRotation(DataFolder data, KeyAccess access) {
        this.data = data;
        this.access = access;
    }

    /// Replaces the long-term key with a new one under the same name; the old private key is destroyed.
    ///
    /// @return what is known of the new key
    /// @throws RecorderException when either key cannot be opened, or the old one has expired
    public LogKeyConf rotate(LogKeys.NewKeyOptions options) throws RecorderException {
        try (LogKey old = LogKeys.load(data.keys(), access);
                LogKey next = LogKeys.prepareNext(data.keys(), options, access)) {
            if (hasLog()) {
                log(next).rotate(old.signers());
            }
            LogKeys.promote(data.keys(), access);
            return next.conf();
        }
    }

    /// States in the log of runs that a key is not to be trusted anymore. The key that seals data files is
    /// also removed from the folder, so that ingest makes another.
    ///
    /// @throws RecorderException when the log never named the key
    /// @throws IllegalArgumentException when it is the key that signs the log, or there is no log
    public Role revoke(NoteVerifier key) throws RecorderException, IOException {
        try (LogKey current = LogKeys.load(data.keys(), access)) {
            if (current.first().verifier().equals(key)) {
                throw new IllegalArgumentException(
                        "this key signs the log of runs; rotate it first: blackbox keys rotate");
            }
            if (!hasLog()) {
                throw new IllegalArgumentException("there is no log of runs in " + data.log() + " to state it in");
            }
            Role role = key.name().equals(current.origin()) ? Role.LOG : Role.INGEST;
            log(current).revoke(key, role);
            forget(key);
            return role;
        }
    }

    private boolean hasLog() {
        return Files.exists(data.log().resolve(TransparencyLogWriter.CHECKPOINT));
    }

    private TransparencyLogWriter log(LogKey key) {
        var signer = new TransparencyLogWriter.Signer(key.signers(), key.validFrom(), key.validUntil());
        return new TransparencyLogWriter(data.log(), signer, access.clock());
    }

    /// A public key in the folder is trusted without consulting the log, so it must be removed.
    private void forget(NoteVerifier key) throws IOException {
        for (Path file : new LocalTrust(data).publicKeyFiles()) {
            if (Files.readString(file).strip().equals(key.encoded())) {
                String name = file.getFileName().toString();
                Files.deleteIfExists(file.resolveSibling(name.substring(0, name.length() - 4) + ".key"));
                Files.delete(file);
            }
        }
    }
}
