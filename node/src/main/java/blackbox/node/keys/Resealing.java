package blackbox.node.keys;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.storage.FileStore;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.KeyStatement.Role;
import blackbox.evidence.verify.RunVerifier;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.files.AtomicFiles;
import blackbox.node.data.LocalTrust;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.table.EventsTable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reseals with the successor of a revoked key what the revoked key sealed: only the data files of runs whose
/// events verify again, against what the recorder signed, because the revoked key may have sealed anything. If it
/// was interrupted, running it again completes it.
final class Resealing {

    private final LocalTrust trust;
    private final Recordings recordings;
    private final NoteVerifier revoked;
    private final NoteSigner next;

    Resealing(DataFolder data, Recordings recordings, NoteVerifier revoked, NoteSigner next) {
        this.trust = new LocalTrust(data);
        this.recordings = recordings;
        this.revoked = revoked;
        this.next = next;
    }

    /// Says why seals cannot be replaced in `files`, or null: the port puts new files and changes none.
    static @Nullable String refusal(FileStore files) {
        return files.local(EventsTable.DATA_FOLDER) != null
                ? null
                : "the data files and their seals are at " + files.location(EventsTable.DATA_FOLDER)
                        + ", where no seal can be replaced, and this key's would count for nothing anymore: nothing was"
                        + " revoked. Copy these files below warehouse/ of a data folder that has this one's keys/ and"
                        + " log/, and revoke the key there";
    }

    /// A data file and its seal by the revoked key.
    private record Sealed(DataFile file, SignedNote seal) {}

    /// Reseals what can be resealed.
    Revocation all() throws IOException {
        int files = 0;
        var refused = new ArrayList<RunId>();
        for (RunId run : recordings.runs()) {
            if (recordings.isImported(run)) {
                continue; // sealed by another installation's keys
            }
            List<Sealed> affected = affected(run);
            SignedNote state = state(run);
            if (affected.isEmpty() && state == null) {
                continue;
            }
            if (isTampered(run)) {
                refused.add(run);
                continue;
            }
            for (Sealed each : affected) {
                signAgain(sealOf(each.file), each.seal);
            }
            if (state != null) {
                signAgain(stateOf(run), state);
            }
            files += affected.size();
        }
        return new Revocation(revoked, Role.INGEST, files, refused);
    }

    private void signAgain(Path file, SignedNote note) throws IOException {
        AtomicFiles.onDisk().replace(file, SignedNote.sign(note.text(), next).getBytes(StandardCharsets.UTF_8));
    }

    /// The note of the run's state, if it has one by the revoked key: without it, ingest takes a run that was
    /// stopped for open, and one that an older version left for closed.
    private @Nullable SignedNote state(RunId run) throws IOException {
        Path file = stateOf(run);
        SignedNote note = Files.isRegularFile(file) ? noteIn(file) : null;
        return note != null && note.signedBy(List.of(revoked)) != null ? note : null;
    }

    private Path stateOf(RunId run) throws IOException {
        String key = EventsTable.dataFolder(run) + "/" + EventsTable.STATE_NOTE;
        Path local = recordings.files().local(key);
        if (local == null) {
            throw new IOException("the state of run " + run + " is not on this machine and cannot be signed again");
        }
        return local;
    }

    private List<Sealed> affected(RunId run) throws IOException {
        var affected = new ArrayList<Sealed>();
        for (DataFile file : recordings.dataFiles(run)) {
            SignedNote seal = noteIn(sealOf(file));
            if (seal != null && seal.signedBy(List.of(revoked)) != null) {
                affected.add(new Sealed(file, seal));
            }
        }
        return affected;
    }

    /// Whether the run fails verification even if the revoked key is still trusted.
    private boolean isTampered(RunId run) throws IOException {
        Verification verification = RunVerifier.verifyDespiteRevocation(recordings, run, trust.trustedKeys(), revoked);
        return verification.integrity() == Integrity.TAMPERED;
    }

    private static @Nullable SignedNote noteIn(Path seal) throws IOException {
        return SignedNote.parse(Files.readAllBytes(seal));
    }

    private static Path sealOf(DataFile file) throws IOException {
        Path local = file.store().local(file.sealKey());
        if (local == null) {
            throw new IOException("the seal of " + file.name() + " is not on this machine and cannot be replaced");
        }
        return local;
    }
}
