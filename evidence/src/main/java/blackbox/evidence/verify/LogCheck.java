package blackbox.evidence.verify;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.tiles.CheckedLog;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the log of runs says about the run under verification: who certified it, how far it was known to
/// reach, and with which roots. A log that does not hold fails the run, whatever the run's own files say.
final class LogCheck {

    private final RunId run;
    private final Path folder;
    private final @Nullable CheckedLog log;
    private final @Nullable CheckedLog own;
    private final @Nullable String broken;
    private final String refused;

    private LogCheck(
            RunId run,
            Path folder,
            @Nullable CheckedLog log,
            @Nullable CheckedLog own,
            @Nullable String broken,
            String refused) {
        this.run = run;
        this.folder = folder;
        this.log = log;
        this.own = own;
        this.broken = broken;
        this.refused = refused;
    }

    /// Reads the log of runs; a second time if a writer has continued it meanwhile. If the folder's own log does not
    /// contain the run, the copies of other hosts' logs are read: the one that holds and contains it counts for
    /// everything but the keys that seal data files.
    static LogCheck read(Recordings recordings, RunId run, List<? extends NoteVerifier> trusted) throws IOException {
        Path folder = recordings.log();
        CheckedLog.Outcome ownOutcome = outcome(folder, run, trusted);
        if (ownOutcome instanceof CheckedLog.Broken(String why)) {
            return new LogCheck(run, folder, null, null, why, "");
        }
        CheckedLog own = ownOutcome instanceof CheckedLog.Holds(CheckedLog holds) ? holds : null;
        if (own != null && !own.leaves().isEmpty()) {
            return new LogCheck(run, folder, own, own, null, "");
        }
        CheckedLog found = null;
        var refused = new StringBuilder();
        for (Path other : recordings.otherLogs()) {
            switch (outcome(other, run, trusted)) {
                case CheckedLog.Holds(CheckedLog holds) -> {
                    if (!holds.leaves().isEmpty() && found != null) {
                        String both = "two logs of runs contain the run, " + name(folder) + " and " + name(other);
                        return new LogCheck(run, folder, null, own, both, "");
                    } else if (!holds.leaves().isEmpty()) {
                        found = holds;
                        folder = other;
                    }
                }
                case CheckedLog.Absent _ -> {}
                case CheckedLog.Broken why ->
                    refused.append("; ")
                            .append(name(other))
                            .append(" is not accepted: ")
                            .append(why.why());
            }
        }
        return new LogCheck(run, folder, found == null ? own : found, own, null, refused.toString());
    }

    private static CheckedLog.Outcome outcome(Path folder, RunId run, List<? extends NoteVerifier> trusted)
            throws IOException {
        return CheckedLog.readSettled(new TransparencyLogReader(folder), trusted, run);
    }

    /// The folder's path in the data folder.
    private static String name(Path folder) {
        return "logs/" + folder.getFileName();
    }

    /// The log's files.
    TransparencyLogReader files() {
        return new TransparencyLogReader(folder);
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
            return "there is no log of runs that holds" + refused;
        }
        String known = certificateText();
        if (known == null) {
            return "the log of runs does not contain it" + refused;
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

    /// Further keys that are accepted on seals of data files: only this folder's own log can name some.
    List<NoteVerifier> ingestKeys() {
        CheckedLog holds = own;
        return holds == null ? List.of() : holds.keys().sealers();
    }

    /// Whether this folder's own log says that a key's seals no longer count.
    boolean isRevokedSealer(NoteVerifier key) {
        CheckedLog holds = own;
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
