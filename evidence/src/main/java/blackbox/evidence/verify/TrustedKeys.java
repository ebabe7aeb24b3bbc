package blackbox.evidence.verify;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The public keys that are accepted, by role: a key named for ingest seals files and never signs a
/// checkpoint.
final class TrustedKeys {

    private static final String INGEST = "blackbox/ingest";
    private static final int NAMED_MAX = 16;

    private final LogCheck log;
    private final List<NoteVerifier> sealers;
    private final List<? extends NoteVerifier> recorders;
    private final Set<String> seen = new LinkedHashSet<>();
    private boolean strangers;

    /// @param keys those that are trusted directly
    /// @param log what the log of runs says
    TrustedKeys(List<? extends NoteVerifier> keys, LogCheck log) {
        this.log = log;
        recorders = keys.stream().filter(key -> !key.name().equals(INGEST)).toList();
        sealers = new ArrayList<>(keys);
        sealers.addAll(log.ingestKeys());
        sealers.removeIf(log::isRevokedSealer);
    }

    /// Believes the seals of a key although the log has revoked it.
    void believeSealer(NoteVerifier key) {
        sealers.add(key);
    }

    /// Whether a recorder's key signed the note; remembers which.
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

    /// What is wrong with a run key certificate, or null; remembers who signed it.
    @Nullable
    String certificateFault(SignedNote note) {
        remember(note);
        return log.certificateFault(note);
    }

    /// What is wrong with a run without a certificate, or null.
    @Nullable
    String uncertifiedFault() {
        return log.uncertifiedFault();
    }

    /// Remembers that an untrusted key has signed; returns `what`.
    String stranger(String what) {
        strangers = true;
        return what;
    }

    /// Whether the note was signed by a key that is trusted or for which the log of runs vouches.
    boolean signedSeal(SignedNote note) {
        return note.signedBy(sealers) != null;
    }

    Verification.Authorship authorship() {
        return new Verification.Authorship(List.copyOf(seen), !seen.isEmpty() && !strangers);
    }
}
