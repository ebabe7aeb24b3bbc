package blackbox.query.verify;

import blackbox.schemas.log.NoteVerifier;
import blackbox.schemas.log.SignedNote;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// The public keys that are believed, by role: a key named for ingest seals files and never signs a checkpoint.
final class TrustedKeys {

    private static final String INGEST = "blackbox/ingest";

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
        if (seen.size() < 16) {
            for (SignedNote.Signature signature : note.signatures()) {
                seen.add(signature.name() + "+" + String.format("%08x", signature.keyId()));
            }
        }
        strangers |= !believed;
        return believed;
    }

    /// Whether a trusted key signed the note.
    boolean signedSeal(SignedNote note) {
        return note.signedBy(all) != null;
    }

    Verification.Authorship authorship() {
        return new Verification.Authorship(List.copyOf(seen), !seen.isEmpty() && !strangers);
    }
}
