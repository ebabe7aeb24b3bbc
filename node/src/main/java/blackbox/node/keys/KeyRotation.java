package blackbox.node.keys;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.storage.FileStore;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.KeyStatement.Role;
import blackbox.files.AtomicFiles;
import blackbox.files.ProcessLock;
import blackbox.node.data.DataFiles;
import blackbox.node.data.LocalTrust;
import blackbox.node.record.PipelineLock;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.keys.LogKey;
import blackbox.recorder.keys.LogKeyConf;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.runlog.TransparencyLogWriter;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Replaces and revokes the keys of a data folder: changes the folder and states the change in the log of runs, in
/// an order that lets an interrupted operation be completed by running it again.
public final class KeyRotation {

    private final DataFolder data;
    private final FileStore files;
    private final KeyAccess access;

    public KeyRotation(DataFolder data, KeyAccess access) {
        this(data, DataFiles.of(data), access);
    }

    /// @param files where the data files and their seals are
    KeyRotation(DataFolder data, FileStore files, KeyAccess access) {
        this.data = data;
        this.files = files;
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

    /// States in the log of runs that a key is not to be trusted anymore. The key that seals data files is also
    /// removed from the folder and replaced; what it sealed is verified once more and sealed by the new key.
    ///
    /// Where a revocation was interrupted, it is completed and nothing else is done, whatever `key` is: the file
    /// that named the key may hold the new one by now, which must stay.
    ///
    /// @return of which key it was
    /// @throws RecorderException when the log never named the key
    /// @throws IllegalArgumentException when it is the key that signs the log, when there is no log, when files are
    ///     being sealed, and when their seals cannot be replaced; nothing was changed then
    public Revocation revoke(NoteVerifier key) throws RecorderException, IOException {
        try (LogKey current = LogKeys.load(data.keys(), access)) {
            if (current.first().verifier().equals(key)) {
                throw new IllegalArgumentException(
                        "this key signs the log of runs; rotate it first: blackbox keys rotate");
            }
            if (!hasLog()) {
                throw new IllegalArgumentException(
                        "there is no log of runs in " + data.log() + " in which to state it");
            }
            if (key.name().equals(current.origin()) && begun() == null) {
                log(current).revoke(key, Role.LOG);
                forget(key);
                return new Revocation(key, Role.LOG, 0, List.of());
            }
            return revokeSealer(current, key);
        }
    }

    private Revocation revokeSealer(LogKey current, NoteVerifier named) throws RecorderException, IOException {
        String refusal = Resealing.refusal(files);
        if (refusal != null) {
            throw new IllegalArgumentException(refusal);
        }
        try (PipelineLock lock = PipelineLock.tryTake(data);
                ProcessLock table = ProcessLock.tryTake(data.ingestLock())) {
            if (lock == null || table == null) {
                throw new IllegalArgumentException("files are being sealed in " + data.root()
                        + ": end the recordings, `blackbox serve` and `blackbox ingest` there, then revoke the key");
            }
            NoteVerifier begun = begun();
            NoteVerifier key = begun == null ? named : begun;
            log(current).revoke(key, Role.INGEST);
            AtomicFiles.onDisk().replace(data.revoking(), (key.encoded() + "\n").getBytes(StandardCharsets.UTF_8));
            forget(key);
            Ed25519Key next = KeyFile.ofIngest(data);
            log(current).certifyIngest(next.verifier());
            Revocation done = new Resealing(data, Recordings.unchecked(data.root(), files), key, next).all();
            Files.delete(data.revoking());
            return done;
        }
    }

    /// The key whose revocation was interrupted, or null.
    public @Nullable NoteVerifier begun() throws IOException {
        return Files.exists(data.revoking()) ? NoteVerifiers.parse(Files.readString(data.revoking())) : null;
    }

    private boolean hasLog() {
        return Files.exists(data.log().resolve(TilePath.CHECKPOINT));
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
