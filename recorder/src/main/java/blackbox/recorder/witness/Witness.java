package blackbox.recorder.witness;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.CosignatureKey;
import blackbox.evidence.witness.AddCheckpoint;
import blackbox.evidence.witness.WitnessVerdict;
import blackbox.files.AtomicFiles;
import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.schemas.Hash;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Cosigns checkpoints, for each log only along one consistent history.
///
/// Contract: a cosignature leaves this object only after the checkpoint is durable as its log's last one, so
/// no two cosigned checkpoints of a log contradict each other, whatever process is killed. The record is read
/// from the disk for each request; nothing is cached in memory. One witness per folder, held by a lock; safe
/// to use from several threads, which wait for each other if they ask about the same log.
///
/// A witness that lost its folder must not continue under its old key: it has forgotten what it cosigned.
public final class Witness implements AutoCloseable {

    private static final int STATE_BYTES_MAX = 64 << 10;

    private final Path folder;
    private final CosignatureKey key;
    private final List<NoteVerifier> logs;
    private final InstantSource clock;
    private final AtomicFiles files;
    private final ProcessLock lock;

    /// A lock for each log that is known.
    private final Map<String, Object> turns;

    private Witness(
            Path folder,
            CosignatureKey key,
            Collection<? extends NoteVerifier> logs,
            InstantSource clock,
            AtomicFiles files,
            ProcessLock lock) {
        this.folder = folder;
        this.key = key;
        this.logs = List.copyOf(logs);
        this.clock = clock;
        this.files = files;
        this.lock = lock;
        this.turns = this.logs.stream()
                .map(NoteVerifier::name)
                .distinct()
                .collect(Collectors.toUnmodifiableMap(origin -> origin, _ -> new Object()));
    }

    /// Opens the witness whose record is in `folder`.
    ///
    /// @param logs the keys of the logs that it knows; a key's name is its log's origin
    /// @throws RecorderException `WITNESS` when the folder cannot be used or another process has it
    public static Witness open(
            Path folder, CosignatureKey key, Collection<? extends NoteVerifier> logs, InstantSource clock)
            throws RecorderException {
        return open(folder, key, logs, clock, AtomicFiles.onDisk());
    }

    static Witness open(
            Path folder,
            CosignatureKey key,
            Collection<? extends NoteVerifier> logs,
            InstantSource clock,
            AtomicFiles files)
            throws RecorderException {
        try {
            Files.createDirectories(folder);
            ProcessLock lock = ProcessLock.tryTake(folder.resolve("lock"));
            if (lock == null) {
                throw new RecorderException(Code.WITNESS, "another witness is using " + folder + "; stop it first");
            }
            return new Witness(folder, key, logs, clock, files, lock);
        } catch (IOException e) {
            throw new RecorderException(Code.WITNESS, "cannot use the witness's folder " + folder, e);
        }
    }

    /// The witness's public key, for the policies of those who trust it.
    public NoteVerifier verifier() {
        return key.verifier();
    }

    /// Answers the body of an add-checkpoint request.
    ///
    /// @throws RecorderException `WITNESS` when the record cannot be read or written: nothing was cosigned
    ///     then, and the next request finds out whether the checkpoint is recorded
    public WitnessAnswer addCheckpoint(byte[] body) throws RecorderException {
        AddCheckpoint request = AddCheckpoint.parse(body);
        if (request == null) {
            return WitnessAnswer.malformed();
        }
        String origin = request.checkpoint().origin();
        Object turn = turns.get(origin);
        if (turn == null) {
            return WitnessAnswer.refused(WitnessVerdict.UNKNOWN_LOG);
        }
        synchronized (turn) {
            try {
                return decide(request, origin);
            } catch (IOException e) {
                throw new RecorderException(Code.WITNESS, "cannot keep the record of " + origin, e);
            }
        }
    }

    private WitnessAnswer decide(AddCheckpoint request, String origin) throws IOException {
        Path file = stateFile(origin);
        Checkpoint last = last(file, origin);
        WitnessVerdict verdict = WitnessVerdict.of(request, logs, last);
        if (verdict == WitnessVerdict.CONFLICT) {
            return WitnessAnswer.conflict(last == null ? 0 : last.size());
        }
        if (verdict != WitnessVerdict.COSIGN) {
            return WitnessAnswer.refused(verdict);
        }
        byte[] text = request.checkpoint().text().getBytes(StandardCharsets.UTF_8);
        if (!request.checkpoint().equals(last)) {
            files.replace(file, text);
        }
        byte[] cosignature = key.cosign(text, clock.instant().getEpochSecond());
        var line =
                new SignedNote.Signature(key.verifier().name(), key.verifier().keyId(), cosignature);
        return WitnessAnswer.cosigned(line);
    }

    /// `<SHA-256 of the origin>.checkpoint`: an origin may have characters that a file name cannot have.
    private Path stateFile(String origin) {
        return folder.resolve(Hash.sha256(origin.getBytes(StandardCharsets.UTF_8)) + ".checkpoint");
    }

    private @Nullable Checkpoint last(Path file, String origin) throws IOException {
        byte[] octets = files.read(file, STATE_BYTES_MAX);
        if (octets == null) {
            return null;
        }
        Checkpoint last = Checkpoint.parse(new String(octets, StandardCharsets.UTF_8));
        if (last == null || !last.origin().equals(origin)) {
            throw new IOException(file + " is damaged; a witness that lost its record must not cosign again");
        }
        return last;
    }

    @Override
    public void close() throws RecorderException {
        try {
            lock.close();
        } catch (IOException e) {
            throw new RecorderException(Code.WITNESS, "cannot release the witness's folder", e);
        }
    }
}
