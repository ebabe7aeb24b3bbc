package blackbox.evidence.proof;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.trust.EpochKey;
import blackbox.evidence.trust.RunKeyCertificate;
import blackbox.evidence.verify.LeafDetail;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import org.jspecify.annotations.Nullable;

/// Reads the key that a run's leaf names for the next checkpoint: a heartbeat names that of the next epoch,
/// the opening leaf, through its certificate, that of the first.
final class SignerLeaf {

    private SignerLeaf() {}

    /// The key; null if the leaf names none.
    static @Nullable NoteVerifier key(byte[] leaf, RunId run) {
        var row = new Row();
        if (!LeafCodec.decode(leaf, 0, leaf.length, row) || !row.has(Column.KIND) || !row.has(Column.DETAIL)) {
            return null;
        }
        long kind = row.number(Column.KIND);
        if (kind == Kind.RECORDER_HEARTBEAT.code()) {
            EpochKey key = EpochKey.ofDetail(row.text(Column.DETAIL));
            return key == null ? null : key.verifier(run);
        }
        return kind == Kind.RUN_OPEN.code() ? certified(row.text(Column.DETAIL).toString(), run) : null;
    }

    private static @Nullable NoteVerifier certified(String detail, RunId run) {
        String text = LeafDetail.certificate(detail).note();
        SignedNote note = text == null ? null : SignedNote.parse(text);
        RunKeyCertificate certificate = note == null ? null : RunKeyCertificate.parse(note.text());
        return certificate != null && certificate.run().equals(run) ? certificate.firstKey() : null;
    }
}
