package blackbox.node.record;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.TrustPolicy;
import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.keys.LogKey;
import blackbox.recorder.keys.LogKeys;
import blackbox.recorder.runlog.TransparencyLogWriter;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.List;

/// A data folder's log of runs, open for writing, with the long-term key that signs it. The first use creates
/// the key and the trust policy that trusts this log.
public final class TransparencyLog implements AutoCloseable {

    private final DataFolder data;
    private final LogKey key;
    private final TransparencyLogWriter log;

    private TransparencyLog(DataFolder data, LogKey key) {
        this.data = data;
        this.key = key;
        this.log = new TransparencyLogWriter(
                data.log(),
                new TransparencyLogWriter.Signer(key.signers(), key.validFrom(), key.validUntil()),
                InstantSource.system());
    }

    /// Opens the log and its key.
    ///
    /// @throws RecorderException when the key cannot be opened or created
    public static TransparencyLog open(DataFolder data) throws RecorderException {
        LogKey key = LogKeys.loadOrCreate(data.keys(), KeyAccess.system());
        try {
            writePolicy(data.policy(), key.first().verifier());
            return new TransparencyLog(data, key);
        } catch (RecorderException | RuntimeException e) {
            key.close();
            throw e;
        }
    }

    private static void writePolicy(Path policy, NoteVerifier key) throws RecorderException {
        if (Files.exists(policy)) {
            return;
        }
        try {
            Files.writeString(policy, TrustPolicy.of(List.of(key)).text(), StandardOpenOption.CREATE_NEW);
        } catch (FileAlreadyExistsException _) {
            // Another process was first.
        } catch (IOException e) {
            throw new RecorderException(Code.KEY, "cannot write the trust policy " + policy, e);
        }
    }

    /// The log itself.
    public TransparencyLogWriter log() {
        return log;
    }

    /// The key that signs it.
    NoteVerifier verifier() {
        return key.first().verifier();
    }

    /// Makes the log vouch for the key that seals data files. A file beside the key remembers that this was done,
    /// so that not every run reads the whole log.
    void vouchForIngest() throws RecorderException {
        NoteVerifier ingest = KeyFile.ofIngest(data).verifier();
        Path told = data.ingestCertified();
        String what = log.origin() + "\n" + ingest.encoded() + "\n";
        try {
            if (!Files.exists(told) || !Files.readString(told).equals(what)) {
                log.certifyIngest(ingest);
                Files.writeString(told, what);
            }
        } catch (IOException e) {
            throw new RecorderException(Code.KEY, "cannot write " + told, e);
        }
    }

    @Override
    public void close() {
        key.close();
    }
}
