package blackbox.query.verify;

import blackbox.schemas.log.NoteVerifier;
import blackbox.schemas.log.SignedNote;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The public keys that are believed, by role: a key named for ingest seals files and never signs a checkpoint.
final class TrustedKeys {

    private static final String INGEST = "blackbox/ingest";
    private static final int NAMED_MAX = 16;

    private final List<NoteVerifier> all;
    private final List<NoteVerifier> recorders;
    private final Set<String> seen = new LinkedHashSet<>();
    private boolean strangers;

    TrustedKeys(List<? extends NoteVerifier> keys) {
        all = List.copyOf(keys);
        recorders = all.stream().filter(key -> !key.name().equals(INGEST)).toList();
    }

    /// Whether a recorder's key signed the note; remembers who did.
    boolean signedCheckpoint(SignedNote note) {
        boolean believed = note.signedBy(recorders) != null;
        remember(note);
        strangers |= !believed;
        return believed;
    }

    private void remember(SignedNote note) {
        if (seen.size() < NAMED_MAX) {
            for (SignedNote.Signature signature : note.signatures()) {
                seen.add(signature.name() + "+" + String.format("%08x", signature.keyId()));
            }
        }
    }

    /// What is wrong with who signed a run key certificate, or null; remembers who did.
    @Nullable
    String certificateFault(SignedNote note) {
        remember(note);
        return note.signedBy(recorders) == null ? "it is signed by no trusted key" : null;
    }

    /// Remembers that somebody signed who should not have; returns `what`.
    String stranger(String what) {
        strangers = true;
        return what;
    }

    /// Whether a trusted key signed the note.
    boolean signedSeal(SignedNote note) {
        return note.signedBy(all) != null;
    }

    Verification.Authorship authorship() {
        return new Verification.Authorship(List.copyOf(seen), !seen.isEmpty() && !strangers);
    }
}
