package blackbox.ingest.check;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.trust.NextSigner;
import blackbox.evidence.trust.RunKeyCertificate;
import blackbox.evidence.verify.LeafDetail;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads from a run's first batch who must sign it. Owned by one thread.
final class OpeningCheck {

    private final Row row = new Row();

    /// The key that the certificate in the first leaf names, if a trusted key signed the certificate; nobody
    /// if the certificate is not valid; directly trusted keys if there is none.
    NextSigner signerOf(SealedBatch first, List<NoteVerifier> trusted) {
        LeafDetail.Certificate certificate = certificate(first.leaves());
        if (!certificate.there()) {
            return NextSigner.opened(null);
        }
        SignedNote note = certificate.note() == null ? null : SignedNote.parse(certificate.note());
        RunKeyCertificate parsed = note == null ? null : RunKeyCertificate.parse(note.text());
        boolean believed =
                note != null && parsed != null && parsed.run().equals(first.run()) && note.signedBy(trusted) != null;
        return believed ? NextSigner.opened(parsed) : new NextSigner.Nobody();
    }

    /// Whether the run's first leaf has a certificate for it that no key of a trusted log claims to have
    /// signed, and the key that it names signed the batch: such a run is another log's.
    ///
    /// @param checkpoint the batch's
    boolean isOfAnotherLog(SealedBatch first, SignedNote checkpoint, List<NoteVerifier> trusted) {
        String text = certificate(first.leaves()).note();
        SignedNote note = text == null ? null : SignedNote.parse(text);
        RunKeyCertificate parsed = note == null ? null : RunKeyCertificate.parse(note.text());
        return note != null
                && parsed != null
                && parsed.run().equals(first.run())
                && note.signatures().stream().noneMatch(line -> claims(line, trusted))
                && NextSigner.opened(parsed).signed(checkpoint, first.run(), List.of());
    }

    /// The log of whose keys one that is not trusted claims to have signed the certificate in the run's first
    /// leaf, while another one is; null if there is none.
    @Nullable
    String logOfUnknownKey(SealedBatch first, List<NoteVerifier> trusted) {
        String text = certificate(first.leaves()).note();
        SignedNote note = text == null ? null : SignedNote.parse(text);
        return note == null || note.signedBy(trusted) != null
                ? null
                : note.signatures().stream()
                        .filter(line ->
                                claims(line, trusted) && trusted.stream().noneMatch(key -> isBy(line, key)))
                        .map(SignedNote.Signature::name)
                        .findFirst()
                        .orElse(null);
    }

    /// Whether it names a trusted log, by whichever of its keys: a rotated key keeps the log's name.
    private static boolean claims(SignedNote.Signature line, List<NoteVerifier> trusted) {
        return trusted.stream().anyMatch(key -> key.name().equals(line.name()));
    }

    private static boolean isBy(SignedNote.Signature line, NoteVerifier key) {
        return line.keyId() == key.keyId() && line.name().equals(key.name());
    }

    private LeafDetail.Certificate certificate(LeafCursor leaf) {
        boolean opens = leaf.next()
                && LeafCodec.decode(leaf.array(), leaf.offset(), leaf.offset() + leaf.length(), row)
                && row.has(Column.KIND)
                && row.number(Column.KIND) == Kind.RUN_OPEN.code()
                && row.has(Column.DETAIL);
        return opens ? LeafDetail.certificate(row.text(Column.DETAIL).toString()) : LeafDetail.Certificate.NONE;
    }
}
