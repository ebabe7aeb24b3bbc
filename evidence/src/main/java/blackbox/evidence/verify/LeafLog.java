package blackbox.evidence.verify;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.SignedNote;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The run's log, computed again: takes leaves in order, with checkpoints at their places, and checks that
/// each heartbeat is consistent and each checkpoint signs exactly the tree over the leaves up to it, with the
/// key whose turn it is. Owned by one thread.
final class LeafLog {

    private final RunId run;
    private final TrustedKeys keys;
    private final Findings findings;
    private final EventAccount account = new EventAccount();
    private final ControlAccount control = new ControlAccount();
    private final SignerChain signers;
    private final TimeCheck times;
    private final MerkleFrontier tree;
    private final CountedEvents unknown = new CountedEvents(
            "is of a kind that this version of Blackbox does not know: its octets are verified, its meaning is not",
            "are of kinds that this version of Blackbox does not know: their octets are verified, their meaning is not"
                    + " judged");

    private long coveredEnd;
    private long checkpoints;
    private long nextBatch;
    private boolean closed;
    private long closeIndex = -1;
    private long beatAtNs;
    private @Nullable Hash beatPrevious;
    private boolean lastWasBeat;
    private final List<Expected> expected = new ArrayList<>();

    /// The root that the log must have at some size.
    ///
    /// @param missing what it means if the log never gets there, or null where that is tampering too
    /// @param after when it was known at the earliest: the log of runs has a leaf of that time before it
    private record Expected(
            long size, Hash root, String what, @Nullable String missing, Instant after) {}

    LeafLog(RunId run, TrustedKeys keys, Findings findings) {
        this(
                run,
                keys,
                findings,
                new SignerChain(run, keys, findings),
                new TimeCheck(findings, run.createdAt().toEpochMilli() * 1_000_000L),
                new MerkleFrontier());
    }

    private LeafLog(
            RunId run, TrustedKeys keys, Findings findings, SignerChain signers, TimeCheck times, MerkleFrontier tree) {
        this.run = run;
        this.keys = keys;
        this.findings = findings;
        this.signers = signers;
        this.times = times;
        this.tree = tree;
    }

    /// Index of the next leaf.
    long size() {
        return tree.size();
    }

    /// Index after the last leaf that an accepted checkpoint covers.
    long coveredEnd() {
        return coveredEnd;
    }

    /// Takes the next leaf: its octets, preceded by an octet 0, and their content.
    void append(byte[] array, int offset, int length, Row row) {
        tree.append(array, offset, length);
        lastWasBeat = false;
        if (size() == 1) {
            signers.open(row);
        }
        account.see(size() - 1, row);
        control.see(size() - 1, row);
        if (!row.has(Column.KIND)) {
            unknown.add(size() - 1);
            return;
        }
        long kind = row.number(Column.KIND);
        if (kind == Kind.RECORDER_HEARTBEAT.code()) {
            heartbeat(row);
            return;
        }
        if (closed) {
            findings.tampered(size() - 1, "there is an event after the run's close");
        } else if (kind == Kind.RUN_CLOSE.code()) {
            close(row);
        } else if (Kind.ofCode(kind) == null) {
            unknown.add(size() - 1);
        }
        times.see(size() - 1, row);
    }

    private void heartbeat(Row row) {
        long index = size() - 1;
        lastWasBeat = true;
        if (!row.has(Column.BATCH) || row.number(Column.BATCH) != nextBatch) {
            findings.tampered(index, "the heartbeat does not belong to batch " + nextBatch);
        }
        if (!row.has(Column.EVENTS) || row.number(Column.EVENTS) != size()) {
            findings.tampered(index, "the heartbeat does not count " + size() + " events");
        }
        boolean linked = row.has(Column.PREVIOUS) && row.length(Column.PREVIOUS) == Hash.LENGTH;
        beatPrevious = linked ? Hash.copyOf(row.array(Column.PREVIOUS), row.offset(Column.PREVIOUS)) : null;
        if (beatPrevious == null || nextBatch == 0 && !beatPrevious.equals(Hash.ZERO)) {
            findings.tampered(index, "the heartbeat does not name the previous batch");
        }
        beatAtNs = row.has(Column.AT_NS) ? row.number(Column.AT_NS) : 0;
        times.beat(index, beatAtNs, signers.isCertified());
        signers.heartbeat(row);
        nextBatch++;
    }

    private void close(Row row) {
        closed = true;
        closeIndex = size() - 1;
        if (!row.has(Column.EVENTS) || row.number(Column.EVENTS) != closeIndex) {
            findings.tampered(closeIndex, "the run's close does not count " + closeIndex + " events");
        }
    }

    /// Takes the checkpoint at the leaf just appended; null if there is none.
    ///
    /// @return whether the log may continue: false once the tree is known to differ
    boolean checkpoint(@Nullable String note) {
        long index = size() - 1;
        if (note == null) {
            if (lastWasBeat) {
                findings.tampered(index, "the heartbeat has no checkpoint");
            }
            return true;
        }
        if (!lastWasBeat) {
            findings.tampered(index, "there is a checkpoint at an event that is not a heartbeat");
            return true;
        }
        String fault = faultOf(note);
        if (fault != null) {
            findings.tampered(coveredEnd, "events " + coveredEnd + " to " + index + ": " + fault);
            return false;
        }
        checkpoints++;
        coveredEnd = size();
        meetExpectations();
        String end = signers.advance(closed);
        if (end != null) {
            findings.tampered(index, end);
        }
        return end == null;
    }

    private @Nullable String faultOf(String text) {
        SignedNote note = SignedNote.parse(text);
        if (note == null) {
            return "the checkpoint is not a signed note";
        }
        String unsigned = signers.faultOf(note);
        if (unsigned != null) {
            return unsigned;
        }
        Checkpoint checkpoint = Checkpoint.parse(note.text());
        if (checkpoint == null) {
            return "the note is not a checkpoint";
        }
        if (!checkpoint.origin().equals(run.origin())) {
            return "the checkpoint is of another log, " + checkpoint.origin();
        }
        if (checkpoint.size() != size()) {
            return "the checkpoint is over " + checkpoint.size() + " events, but there are " + size();
        }
        return checkpoint.root().equals(tree.root()) ? null : "the events do not lead to the root that was signed";
    }

    /// The number, time and predecessor in the last heartbeat.
    BatchFacts lastHeartbeat() {
        return new BatchFacts(nextBatch - 1, beatAtNs, beatPrevious);
    }

    /// What a heartbeat says about its batch.
    record BatchFacts(
            long sequence, long sealedAtNs, @Nullable Hash previous) {}

    /// A copy of the log's state, to check other leaves against without changing it; its findings go to the
    /// same place.
    LeafLog fork() {
        var fork = new LeafLog(
                run, keys, findings, signers.fork(), times.fork(), MerkleFrontier.of(tree.size(), tree.toBytes()));
        fork.coveredEnd = coveredEnd;
        fork.nextBatch = nextBatch;
        fork.closed = closed;
        return fork;
    }

    /// Another copy of the events before `size` leads to this root, so the log must have it too when it gets
    /// there.
    void expect(long size, Hash root, String what) {
        expected.add(new Expected(size, root, what, null, Instant.EPOCH));
    }

    /// The log of runs certified the run's first key at that time, before the run began.
    void certifiedAt(Instant issued) {
        times.notBefore(issued);
    }

    /// The log of runs knows that the run's tree had this root when it had `size` leaves, and says so behind a leaf of
    /// the time `after`.
    void expectLogged(long size, Hash root, Instant after, String where) {
        expected.add(new Expected(
                size,
                root,
                "the events up to here lead to a root other than the one in the log of runs, " + where,
                "the log of runs records " + size + " events, " + where,
                after));
    }

    private void meetExpectations() {
        for (var each = expected.iterator(); each.hasNext(); ) {
            Expected expectation = each.next();
            if (expectation.size == size()) {
                each.remove();
                if (!expectation.root.equals(tree.root())) {
                    findings.tampered(size() - 1, expectation.what);
                }
                times.followed(size() - 1, beatAtNs, expectation.after);
            }
        }
    }

    Hash root() {
        return tree.root();
    }

    /// Checks what can be checked only at the end.
    ///
    /// @param live whether the recorder is alive, so that what is missing may still arrive
    void finish(boolean live) {
        if (!findings.isTampered()) {
            expected.forEach(expectation -> unmet(expectation, live));
        }
        if (coveredEnd != size() && !findings.isTampered()) {
            findings.tampered(coveredEnd, "events from " + coveredEnd + " on are not covered by a checkpoint");
        }
        unknown.tell(findings);
        account.findings().forEach(found -> findings.note(found.index(), found.what()));
        Verification.Finding moved = control.finding();
        if (moved != null) {
            findings.note(moved.index(), moved.what());
        }
    }

    private void unmet(Expected expectation, boolean live) {
        String missing = expectation.size > size() ? expectation.missing : null;
        if (missing == null) {
            findings.tampered(expectation.size - 1, expectation.what);
        } else if (closed) {
            findings.tampered(size(), missing + ", but the run closes here with " + size());
        } else if (live) {
            findings.note(size(), missing + ", but only " + size() + " are here so far");
        } else {
            findings.truncated(
                    size(),
                    missing + ", but only " + size() + " are here"
                            + "; if the broker still has the others, start ingest and verify again");
        }
    }

    /// Whether the run is sealed by epoch keys.
    boolean isCertified() {
        return signers.isCertified();
    }

    boolean isClosed() {
        return closed;
    }

    /// What is lost of the run, by its own rows.
    ///
    /// @param live whether the recorder is alive, so that what is missing may still arrive
    Losses losses(boolean live) {
        return account.losses(live);
    }

    /// How the run could be stopped, by its own rows; null if they do not say.
    @Nullable
    ControlFacts control() {
        return control.facts();
    }

    long checkpoints() {
        return checkpoints;
    }
}
