package blackbox.evidence.verify;

import blackbox.evidence.log.SignedNote;
import blackbox.evidence.storage.FileStore;
import blackbox.evidence.storage.StoredFile;
import blackbox.evidence.store.DataFile;
import blackbox.evidence.store.FileDigest;
import blackbox.schemas.RunId;
import blackbox.schemas.table.FileSeal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Checks a data file against its seal, octet for octet, before anything in it is accepted or even parsed.
final class FileCheck {

    private static final int SEAL_BYTES_MAX = 16_384;

    private final RunId run;
    private final Predicate<SignedNote> signedSeal;

    /// @param signedSeal whether a key signed the note that may seal the run's files
    FileCheck(RunId run, Predicate<SignedNote> signedSeal) {
        this.run = run;
        this.signedSeal = signedSeal;
    }

    /// What is wrong with the file or its seal, or null. Nothing in the file is read.
    @Nullable
    String faultOf(DataFile file) throws IOException {
        SignedNote note = seal(file.store(), file.sealKey());
        if (note == null) {
            return "the seal is not a signed note";
        }
        if (!signedSeal.test(note)) {
            return "the seal is not signed by a trusted key";
        }
        FileSeal seal = FileSeal.parse(note.text());
        if (seal == null) {
            return "the seal's text is malformed";
        }
        if (!seal.run().equals(run) || !seal.file().equals(file.name())) {
            return "the seal belongs to another file";
        }
        try (StoredFile open = file.open()) {
            if (open.size() != seal.sizeBytes()) {
                return "the file has " + open.size() + " octets, but its seal says " + seal.sizeBytes();
            }
            return FileDigest.sha256(open).equals(seal.sha256())
                    ? null
                    : "the file's octets are not those that were sealed";
        }
    }

    private static @Nullable SignedNote seal(FileStore store, String key) throws IOException {
        try (StoredFile file = store.open(key)) {
            byte[] octets = file.octets(SEAL_BYTES_MAX);
            return octets == null ? null : noteOf(octets);
        }
    }

    /// The note in these octets, or null if they are not exactly one.
    static @Nullable SignedNote noteOf(byte[] octets) {
        String text = new String(octets, StandardCharsets.UTF_8);
        boolean exact = Arrays.equals(text.getBytes(StandardCharsets.UTF_8), octets);
        return exact ? SignedNote.parse(text) : null;
    }

    /// The range of events that a seal without its file names, or null if it is not a seal of this run.
    @Nullable
    FileSeal orphan(FileStore store, String key) throws IOException {
        try {
            SignedNote note = seal(store, key);
            FileSeal seal = note == null ? null : FileSeal.parse(note.text());
            return seal != null && seal.run().equals(run) ? seal : null;
        } catch (NoSuchFileException e) {
            return null;
        }
    }
}
