package blackbox.evidence.verify;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.tiles.CheckedLog;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the log of runs says about the run under verification: who certified it, how far it was known to
/// reach, and with which roots. A log that does not hold fails the run, whatever the run's own files say.
final class LogCheck {

    private final RunId run;
    private final @Nullable CheckedLog log;
    private final @Nullable String broken;

    private LogCheck(RunId run, @Nullable CheckedLog log, @Nullable String broken) {
        this.run = run;
        this.log = log;
        this.broken = broken;
    }

    /// Reads the log of runs; a second time if a writer has continued it meanwhile.
    static LogCheck read(TransparencyLogReader files, RunId run, List<? extends NoteVerifier> trusted)
            throws IOException {
        return switch (CheckedLog.readSettled(files, trusted, run)) {
            case CheckedLog.Holds holds -> new LogCheck(run, holds.log(), null);
            case CheckedLog.Absent _ -> new LogCheck(run, null, null);
            case CheckedLog.Broken why -> new LogCheck(run, null, why.why());
        };
    }

    /// The log, if it exists and holds.
    @Nullable
    CheckedLog log() {
        return log;
    }

    /// Reports what is wrong with the log itself, and how it contradicts a checkpoint that was kept elsewhere.
    void check(Findings findings, @Nullable SignedNote kept) throws IOException {
        CheckedLog holds = log;
        if (broken != null) {
            findings.tampered(-1, broken);
        }
        if (kept != null) {
            String fault = holds == null ? "there is no log of runs that holds" : holds.departsFrom(kept);
            if (fault != null) {
                findings.tampered(-1, "against the checkpoint that was kept: " + fault);
            }
        }
    }

    /// Reports that the host's clock had been set back when the run began, as far as the log shows it. Processes that
    /// certify at the same time append in any order, hence the tolerance.
    void checkClock(Findings findings) {
        CheckedLog holds = log;
        Instant newer = holds == null ? null : holds.newerBefore();
        if (holds == null || newer == null) {
            return;
        }
        for (CheckedLog.RunLeaf leaf : holds.leaves()) {
            if (leaf instanceof CheckedLog.Opened opened
                    && newer.isAfter(opened.certificate().issued().plus(TimeCheck.TOLERANCE))) {
                findings.note(
                        0,
                        "the host's clock had been set back when the run began: its certificate is of "
                                + opened.certificate().issued() + ", and the log of runs holds a leaf of " + newer
                                + " before it");
            }
        }
    }

    /// Requires the run's tree to lead to every root of it that the log contains, and its times to follow those in the
    /// log.
    void expectIn(LeafLog leaves) {
        CheckedLog holds = log;
        if (holds == null) {
            return;
        }
        for (CheckedLog.RunLeaf leaf : holds.leaves()) {
            switch (leaf) {
                case CheckedLog.Opened opened ->
                    leaves.certifiedAt(opened.certificate().issued());
                case CheckedLog.Logged logged ->
                    leaves.expectLogged(
                            logged.checkpoint().size(),
                            logged.checkpoint().root(),
                            logged.after(),
                            "leaf " + logged.index());
            }
        }
    }

    /// What is wrong with the certificate in the run's first leaf, or null: the log must contain it.
    @Nullable
    String certificateFault(SignedNote certificate) {
        CheckedLog holds = log;
        if (holds == null) {
            return "there is no log of runs that holds";
        }
        String known = certificateText();
        if (known == null) {
            return "the log of runs does not contain it";
        }
        return known.equals(certificate.text()) ? null : "the log of runs contains a different one";
    }

    /// What is wrong with a run without a certificate, or null. Only runs from before there was a log of runs
    /// may lack one.
    @Nullable
    String uncertifiedFault() {
        CheckedLog holds = log;
        if (holds == null) {
            return null;
        }
        if (!holds.leaves().isEmpty()) {
            return "it has no certificate, but the log of runs contains the run";
        }
        return run.createdAt().isBefore(holds.keys().begunAt())
                ? null
                : "it has no certificate, but there was a log of runs when it began";
    }

    private @Nullable String certificateText() {
        CheckedLog holds = log;
        String text = null;
        for (CheckedLog.RunLeaf leaf : holds == null ? List.<CheckedLog.RunLeaf>of() : holds.leaves()) {
            if (leaf instanceof CheckedLog.Opened opened) {
                if (text != null && !text.equals(opened.note().text())) {
                    return "two certificates";
                }
                text = opened.note().text();
            }
        }
        return text;
    }

    /// Further keys that are accepted on seals of data files.
    List<NoteVerifier> ingestKeys() {
        CheckedLog holds = log;
        if (holds == null) {
            return List.of();
        }
        return holds.keys().sealers();
    }

    /// Whether the log says that a key's seals no longer count.
    boolean isRevokedSealer(NoteVerifier key) {
        CheckedLog holds = log;
        return holds != null && holds.keys().isRevokedSealer(key);
    }

    /// Whether the log contains the run.
    boolean knowsRun() {
        CheckedLog holds = log;
        return holds != null && !holds.leaves().isEmpty();
    }

    /// Reports it if a closed run's last checkpoint is not in the log.
    void checkClose(Findings findings, long size) {
        CheckedLog holds = log;
        boolean logged = holds == null
                || holds.leaves().stream()
                        .anyMatch(leaf -> leaf instanceof CheckedLog.Logged at
                                && at.checkpoint().size() == size);
        if (!logged) {
            findings.note(size - 1, "the log of runs does not contain the run's closing checkpoint");
        }
    }
}
