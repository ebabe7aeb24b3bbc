package blackbox.ingest.check;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.trust.NextSigner;
import blackbox.ingest.IngestException;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.MalformedBatchException;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Checks batches against what is known about their runs: signature, chain, place and root.
///
/// A run whose first leaf carries a run key certificate is sealed by epoch keys: each batch is accepted
/// only under the key that the batch before it named (`schemas/trust.md`). Until a batch is its run's next,
/// its signer cannot be checked, so a batch out of order never stops such a run.
///
/// A run of another log of runs is somebody else's: it is passed over, and nothing is remembered of it, so
/// that an opening that somebody makes up cannot keep the run's own out.
///
/// Owned by the consumer's thread. Remembers the open runs that it has met by their [ChainState], and the
/// latest closed ones by their length; of others it asks [RunStates].
public final class BatchCheck {

    /// Far more than can close between two commits: what is forgotten is in the table.
    private static final int CLOSED_MAX = 4_096;

    private final Supplier<? extends Collection<? extends NoteVerifier>> trust;

    /// As of the last run that began.
    private List<NoteVerifier> trusted;

    private final Map<RunId, OpenRun> open = new HashMap<>();

    /// How many leaves the runs have that closed last.
    private final Map<RunId, Long> closed = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<RunId, Long> eldest) {
            return size() > CLOSED_MAX;
        }
    };

    private final Ownership ownership;
    private final RunStates states;

    private final Row row = new Row();
    private final OpeningCheck opening = new OpeningCheck();

    /// An open run: its state as it will be committed, and the living tree behind it.
    private record OpenRun(ChainState state, MerkleFrontier tree) {}

    /// @param trust whose signatures are accepted on run key certificates, and on checkpoints of runs without
    ///     one; queried again whenever a run begins
    /// @param ownership which runs are one's own of which nothing was accepted yet
    /// @param states how far runs were committed
    public BatchCheck(
            Supplier<? extends Collection<? extends NoteVerifier>> trust, Ownership ownership, RunStates states) {
        this.trust = trust;
        this.trusted = List.copyOf(trust.get());
        this.ownership = ownership;
        this.states = states;
    }

    /// Forgets what it knows of all runs: others may go on with some of them now. Everything that it has
    /// accepted must be committed, or dropped.
    public void forget() {
        open.clear();
        closed.clear();
    }

    /// Decides about one record. `octets` are kept by the verdict and must not change.
    ///
    /// @param key the record's key, which should be the run's id
    /// @throws IngestException when it cannot be read how far the run is
    public CheckResult check(@Nullable String key, byte[] octets) throws IngestException {
        SealedBatch batch;
        try {
            batch = SealedBatch.decode(octets);
        } catch (MalformedBatchException e) {
            return new CheckResult.Refused(
                    octets, runOf(key), -1, Reason.MALFORMED, String.valueOf(e.getMessage()), null);
        }
        if (!batch.run().value().equals(key)) {
            return refused(batch, Reason.MISFILED, "its record has the key '" + key + "'");
        }
        SignedNote note = SignedNote.parse(batch.checkpoint());
        if (note == null) {
            return refused(batch, Reason.SIGNATURE, "its checkpoint is not a signed note");
        }
        return switch (standing(batch.run())) {
            case RunStates.Unseen _ -> checkFirst(batch, note);
            case RunStates.Open _ -> checkPlace(batch, note, Objects.requireNonNull(open.get(batch.run())));
            case RunStates.Closed(long leaves) ->
                batch.endIndex() <= leaves
                        ? new CheckResult.Known(batch)
                        : refused(batch, Reason.AFTER_CLOSE, "the run was closed with " + leaves + " leaves");
        };
    }

    /// As remembered, or else as committed, which is remembered then.
    private RunStates.Standing standing(RunId run) throws IngestException {
        OpenRun living = open.get(run);
        if (living != null) {
            return new RunStates.Open(living.state());
        }
        Long leaves = closed.get(run);
        if (leaves != null) {
            return new RunStates.Closed(leaves);
        }
        RunStates.Standing committed = states.of(run);
        switch (committed) {
            case RunStates.Unseen _ -> {}
            case RunStates.Open(ChainState state) -> open.put(run, new OpenRun(state, state.tree()));
            case RunStates.Closed(long length) -> closed.put(run, length);
        }
        return committed;
    }

    /// A run's first batch itself names the signer; the run is remembered only once that holds.
    private CheckResult checkFirst(SealedBatch batch, SignedNote note) {
        trusted = List.copyOf(trust.get());
        if (batch.firstIndex() > 0 || batch.sequence() > 0) {
            return checkLater(batch, note);
        }
        NextSigner signer = opening.signerOf(batch, trusted);
        if (signer.signed(note, batch.run(), trusted)) {
            return checkPlace(batch, note, remember(batch.run(), signer));
        }
        if (opening.isOfAnotherLog(batch, note, trusted) && !ownership.owns(batch.run())) {
            return new CheckResult.Foreign(batch);
        }
        String log = opening.logOfUnknownKey(batch, trusted);
        return refused(
                batch,
                Reason.SIGNATURE,
                log == null
                        ? "its checkpoint is not signed by the required key"
                        : "its certificate is signed by an unknown key of " + log + ", a log that is trusted: if its"
                                + " key was rotated, give its new keys/log.pub with --trust");
    }

    /// A later batch of a run of which nothing was accepted.
    private CheckResult checkLater(SealedBatch batch, SignedNote note) {
        if (note.signedBy(trusted) != null) {
            return checkPlace(batch, note, remember(batch.run(), new NextSigner.Direct()));
        }
        return ownership.owns(batch.run())
                ? refused(batch, Reason.UNREACHED, "it is batch " + batch.sequence() + " and none has arrived before")
                : new CheckResult.Foreign(batch);
    }

    private OpenRun remember(RunId run, NextSigner signer) {
        var fresh = new OpenRun(ChainState.NEW.signedBy(signer), new MerkleFrontier());
        open.put(run, fresh);
        return fresh;
    }

    private CheckResult checkPlace(SealedBatch batch, SignedNote note, OpenRun run) {
        ChainState state = run.state();
        boolean direct = state.signer() instanceof NextSigner.Direct;
        boolean signed = state.signer().signed(note, batch.run(), trusted);
        if (direct && !signed) {
            return refused(batch, Reason.SIGNATURE, "its checkpoint carries no trusted signature");
        }
        if (batch.endIndex() <= state.nextIndex() && batch.sequence() < state.nextSequence()) {
            return checkKnown(batch, state, direct);
        }
        if (state.stoppedBy() != null) {
            return refused(batch, Reason.STOPPED, "the run was stopped by a finding " + state.stoppedBy());
        }
        if (!signed) {
            return batch.sequence() > state.nextSequence()
                    ? refused(batch, Reason.UNREACHED, missing(batch, state))
                    : refused(batch, Reason.SIGNATURE, "its checkpoint is not signed by its epoch's key");
        }
        Checkpoint checkpoint = Checkpoint.parse(note.text());
        if (checkpoint == null
                || !checkpoint.origin().equals(batch.run().origin())
                || checkpoint.size() != batch.endIndex()) {
            return refused(
                    batch, Reason.CHECKPOINT, "its checkpoint is not of this run at " + batch.endIndex() + " leaves");
        }
        CheckResult misplaced = misplaced(batch, state);
        return misplaced != null ? misplaced : checkContents(batch, checkpoint, run);
    }

    private static String missing(SealedBatch batch, ChainState state) {
        return "it is batch " + batch.sequence() + " and batch " + state.nextSequence() + " has not arrived";
    }

    /// A different batch in a place that is taken: once the key of that epoch is gone, it could come from
    /// anyone, and stops nothing.
    private CheckResult checkKnown(SealedBatch batch, ChainState state, boolean direct) {
        if (batch.sequence() == state.nextSequence() - 1 && !batch.hash().equals(state.previous())) {
            String what = "batch " + batch.sequence() + " arrived before with different contents";
            return refused(batch, direct ? Reason.CONFLICT : Reason.SIGNATURE, what);
        }
        return new CheckResult.Known(batch);
    }

    private @Nullable CheckResult misplaced(SealedBatch batch, ChainState state) {
        if (batch.sequence() > state.nextSequence()) {
            return refused(batch, Reason.GAP, missing(batch, state));
        }
        if (batch.sequence() != state.nextSequence() || batch.firstIndex() != state.nextIndex()) {
            return refused(
                    batch,
                    Reason.CHAIN,
                    "it is batch " + batch.sequence() + " from leaf " + batch.firstIndex() + " where batch "
                            + state.nextSequence() + " from leaf " + state.nextIndex() + " should be");
        }
        return batch.previous().equals(state.previous())
                ? null
                : refused(batch, Reason.CHAIN, "the predecessor that it names is not the batch that arrived");
    }

    private CheckResult checkContents(SealedBatch batch, Checkpoint checkpoint, OpenRun run) {
        LeafCursor leaves = batch.leaves();
        boolean closes = false;
        for (int i = 0; leaves.next(); i++) {
            run.tree().append(leaves.array(), leaves.offset(), leaves.length());
            if (i == batch.count() - 2) {
                closes = isClose(leaves);
            }
        }
        if (!run.tree().root().equals(checkpoint.root())) {
            return refused(batch, Reason.ROOT, "its leaves do not lead to the root that its checkpoint signs");
        }
        if (!isHeartbeat(leaves, batch)) {
            return refused(batch, Reason.HEARTBEAT, "its last leaf is not the heartbeat of batch " + batch.sequence());
        }
        Text detail = row.has(Column.DETAIL) ? row.text(Column.DETAIL) : null;
        NextSigner next = run.state().signer().after(detail, closes);
        if (next == null) {
            return refused(
                    batch, Reason.HEARTBEAT, "its heartbeat does not correctly name the signer of the next batch");
        }
        Hash hash = batch.hash();
        var frontier = new ChainState.Frontier(run.tree().toBytes());
        var after = new ChainState(batch.endIndex(), batch.sequence() + 1, hash, frontier, next, null);
        if (closes) {
            open.remove(batch.run());
            closed.put(batch.run(), batch.endIndex());
        } else {
            open.put(batch.run(), new OpenRun(after, run.tree()));
        }
        return new CheckResult.Accepted(batch, after, closes);
    }

    private boolean isClose(LeafCursor leaf) {
        return LeafCodec.decode(leaf.array(), leaf.offset(), leaf.offset() + leaf.length(), row)
                && row.has(Column.KIND)
                && row.number(Column.KIND) == Kind.RUN_CLOSE.code();
    }

    private boolean isHeartbeat(LeafCursor leaf, SealedBatch batch) {
        return LeafCodec.decode(leaf.array(), leaf.offset(), leaf.offset() + leaf.length(), row)
                && row.has(Column.KIND)
                && row.number(Column.KIND) == Kind.RECORDER_HEARTBEAT.code()
                && row.has(Column.AT_NS)
                && row.number(Column.AT_NS) == batch.sealedAtNs()
                && row.has(Column.BATCH)
                && row.number(Column.BATCH) == batch.sequence()
                && row.has(Column.PREVIOUS)
                && row.length(Column.PREVIOUS) == Hash.LENGTH
                && Hash.copyOf(row.array(Column.PREVIOUS), row.offset(Column.PREVIOUS))
                        .equals(batch.previous());
    }

    /// Refuses the batch, and stops the run if the reason does so; the tree may then be wrong and is not used
    /// again.
    private CheckResult refused(SealedBatch batch, Reason reason, String what) {
        OpenRun run = open.get(batch.run());
        ChainState after = null;
        if (reason.stops() && run != null && run.state().stoppedBy() == null) {
            after = run.state().stopped(reason);
            open.put(batch.run(), new OpenRun(after, run.tree()));
        }
        return new CheckResult.Refused(batch.octets(), batch.run(), batch.sequence(), reason, what, after);
    }

    private static @Nullable RunId runOf(@Nullable String key) {
        try {
            return key == null ? null : new RunId(key);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
