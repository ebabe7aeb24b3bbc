package blackbox.evidence.verify;

import blackbox.evidence.log.SignedNote;
import blackbox.evidence.trust.NextSigner;
import blackbox.evidence.trust.RunKeyCertificate;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Follows who must sign a run's checkpoints: from the certificate in its first leaf, or the lack of one, from
/// heartbeat to heartbeat. Owned by one thread.
final class SignerChain {

    private final RunId run;
    private final TrustedKeys keys;
    private final Findings findings;
    private NextSigner signer;
    private @Nullable Text named;

    SignerChain(RunId run, TrustedKeys keys, Findings findings) {
        this(run, keys, findings, new NextSigner.Unknown());
    }

    private SignerChain(RunId run, TrustedKeys keys, Findings findings, NextSigner signer) {
        this.run = run;
        this.keys = keys;
        this.findings = findings;
        this.signer = signer;
    }

    /// A copy, to be continued independently.
    SignerChain fork() {
        return new SignerChain(run, keys, findings, signer);
    }

    /// Takes the run's first leaf.
    void open(Row row) {
        LeafDetail.Certificate certificate = row.has(Column.DETAIL)
                ? LeafDetail.certificate(row.text(Column.DETAIL).toString())
                : LeafDetail.Certificate.NONE;
        if (!certificate.there()) {
            String fault = keys.uncertifiedFault();
            signer = fault == null ? NextSigner.opened(null) : new NextSigner.Nobody();
            if (fault != null) {
                findings.tampered(0, keys.stranger(fault));
            }
            return;
        }
        String text = certificate.note();
        SignedNote note = text == null ? null : SignedNote.parse(text);
        RunKeyCertificate parsed = note == null ? null : RunKeyCertificate.parse(note.text());
        String fault = note == null || parsed == null || !parsed.run().equals(run)
                ? "it is not a certificate of this run"
                : keys.certificateFault(note);
        if (fault == null) {
            signer = NextSigner.opened(parsed);
        } else {
            signer = new NextSigner.Nobody();
            findings.tampered(0, "the run's certificate is not valid: " + keys.stranger(fault));
        }
    }

    /// Takes the heartbeat that names who signs next.
    void heartbeat(Row row) {
        named = row.has(Column.DETAIL) ? row.text(Column.DETAIL) : null;
    }

    /// Whether a run key certificate and epoch keys sign the run.
    boolean isCertified() {
        return !(signer instanceof NextSigner.Direct);
    }

    /// What is wrong with the checkpoint's signer, or null.
    @Nullable
    String faultOf(SignedNote note) {
        return switch (signer) {
            case NextSigner.Direct _ ->
                keys.signedCheckpoint(note)
                        ? null
                        : "the checkpoint is not signed by a trusted key ("
                                + keys.authorship().keys() + ")";
            case NextSigner.Epoch epoch -> {
                boolean signed = epoch.signed(note, run, List.of());
                yield signed ? null : keys.stranger("the checkpoint is not signed by its epoch's key");
            }
            case NextSigner.Nobody _ -> keys.stranger("no key may sign a checkpoint here");
            case NextSigner.Unknown _ -> keys.stranger("the run has no first event");
        };
    }

    /// Moves to the next epoch, after a checkpoint that holds.
    ///
    /// @return what is wrong with how its heartbeat names the next signer, or null
    @Nullable
    String advance(boolean closes) {
        NextSigner next = signer.after(named, closes);
        signer = next == null ? new NextSigner.Nobody() : next;
        return next == null ? "the heartbeat does not correctly name the signer of the next checkpoint" : null;
    }
}
