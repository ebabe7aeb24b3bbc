package blackbox.evidence.proof;

import blackbox.evidence.EvidenceException;
import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.LogProof;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TreeHasher;
import blackbox.evidence.log.TreeProver;
import blackbox.evidence.proof.EventProof.LoggedNote;
import blackbox.evidence.proof.EventProof.ProvenLeaf;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.trust.KeyStatement;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Makes proofs of any number of one run's events. Each proof was checked against the signed checkpoint.
/// Owned by one thread.
///
/// The checkpoint is the first one over the event in the log of runs; if the log has none, the one at the end
/// of the event's own batch.
public final class EventProver {

    private static final String STATEMENT = "blackbox/key/";

    private final RunId run;
    private final RunTree tree;
    private final TreeHasher hasher = new TreeHasher();
    private final List<Logged> logged = new ArrayList<>();
    private final List<Statement> statements = new ArrayList<>();
    private final LogView log;
    private final Map<Long, Sealed> sealed = new HashMap<>();

    /// A checkpoint of the run that is in the log of runs.
    private record Logged(long logIndex, SignedNote note, Checkpoint checkpoint) {}

    private record Statement(long logIndex, SignedNote note) {}

    /// The parts shared by the proofs of all events under one checkpoint.
    private record Sealed(
            Checkpoint checkpoint,
            SignedNote note,
            @Nullable ProvenLeaf signer,
            @Nullable LogProof inLog,
            List<LoggedNote> statements,
            List<byte[]> timeTokens,
            List<String> limits) {}

    private EventProver(Recordings recordings, RunId run, Path cache) throws IOException {
        this.run = run;
        this.tree = new RunTree(recordings, run, cache);
        this.log = new LogView(new TransparencyLogReader(recordings.holding(run).log()));
        log.entries((index, entry) -> take(index, new String(entry, StandardCharsets.UTF_8)));
    }

    /// Proofs of events of `run`, from the present state of the recording and the log of runs.
    ///
    /// @throws EvidenceException when nothing of the run is here
    /// @throws IOException when something of it or of the log cannot be read
    public static EventProver open(Recordings recordings, RunId run) throws IOException, EvidenceException {
        return open(recordings, run, recordings.treeCache(run));
    }

    /// The same, for those who may not write into the recordings.
    ///
    /// @param cache a folder for what further proofs need not compute again; it may be empty
    public static EventProver open(Recordings recordings, RunId run, Path cache) throws IOException, EvidenceException {
        if (recordings.dataFiles(run).isEmpty() && recordings.spoolSegments(run).isEmpty()) {
            throw new EvidenceException("there is nothing of run " + run);
        }
        return new EventProver(recordings, run, cache);
    }

    private void take(long logIndex, String entry) {
        if (!entry.startsWith(run.origin() + "\n") && !entry.startsWith(STATEMENT)) {
            return;
        }
        SignedNote note = SignedNote.parse(entry);
        Checkpoint checkpoint = note == null ? null : Checkpoint.parse(note.text());
        KeyStatement statement = note == null ? null : KeyStatement.parse(note.text());
        if (note != null && checkpoint != null) {
            logged.add(new Logged(logIndex, note, checkpoint));
        } else if (note != null && statement != null && statement.role() == KeyStatement.Role.LOG) {
            statements.add(new Statement(logIndex, note));
        }
    }

    /// The proof of event `index`.
    ///
    /// @throws UnprovableException when the recording in its present state does not lead to the checkpoint
    ///     that was signed
    /// @throws EvidenceException when there is no such event
    /// @throws IOException when it cannot be read
    public EventProof prove(long index) throws IOException, EvidenceException, UnprovableException {
        if (index < 0) {
            throw new EvidenceException("events are numbered from 0, so there is no event " + index);
        }
        try {
            EventProof proof = attempt(index);
            if (proof != null) {
                return proof;
            }
        } catch (DamagedCacheException e) {
            // The cache is not what it should be: it is rebuilt below.
        }
        tree.cache().clear();
        sealed.clear();
        EventProof proof = attempt(index);
        if (proof == null) {
            throw new UnprovableException(
                    "event " + index + " of run " + run
                            + " does not lead to the checkpoint that was signed; `blackbox verify` shows where the recording differs");
        }
        return proof;
    }

    /// The proof, or null if what was computed does not lead to the signed root.
    private @Nullable EventProof attempt(long index) throws IOException, EvidenceException {
        if (tree.cache().endAfter(index) < 0) {
            tree.cache().grow();
        }
        long end = tree.cache().endAfter(index);
        if (end < 0) {
            throw new EvidenceException("run " + run + " has no event " + index + ": "
                    + (tree.cache().size() == 0
                            ? "it has none yet"
                            : "its last is " + (tree.cache().size() - 1)));
        }
        Sealed under = sealed(firstOver(index), end);
        byte[] leaf = tree.leaf(index);
        LogProof inRun = inRun(index, under);
        ProvenLeaf signer = under.signer();
        boolean holds = holds(leaf, inRun) && (signer == null || holds(signer.leaf(), signer.inRun()));
        return holds
                ? new EventProof(
                        run,
                        index,
                        new ProvenLeaf(leaf, inRun),
                        signer,
                        under.inLog(),
                        under.statements(),
                        under.timeTokens(),
                        under.limits())
                : null;
    }

    private boolean holds(byte[] leaf, LogProof proof) {
        return proof.proven(hasher.leaf(leaf)) != null;
    }

    /// The first checkpoint over the event in the log of runs; null if there is none. The log is ordered by
    /// size.
    private @Nullable Logged firstOver(long index) {
        for (Logged each : logged) {
            if (each.checkpoint().size() > index) {
                return each;
            }
        }
        return null;
    }

    private Sealed sealed(@Nullable Logged there, long end) throws IOException {
        long size = there == null ? end : there.checkpoint().size();
        if (size > tree.cache().size()) {
            tree.cache().grow();
        }
        Sealed known = sealed.get(size);
        if (known == null) {
            known = there == null ? unlogged(size) : logged(there);
            sealed.put(size, known);
        }
        return known;
    }

    private Sealed unlogged(long size) throws IOException {
        SignedNote note = SignedNote.parse(tree.checkpoint(size - 1));
        Checkpoint checkpoint = note == null ? null : Checkpoint.parse(note.text());
        if (note == null || checkpoint == null) {
            throw new DamagedCacheException("the batch that ends with event " + (size - 1) + " has no checkpoint");
        }
        String limit = "the log of runs holds no checkpoint of run " + run + " over this event yet";
        return new Sealed(checkpoint, note, signer(note, checkpoint), null, List.of(), List.of(), List.of(limit));
    }

    private Sealed logged(Logged there) throws IOException {
        LogView.Anchored under = log.over(there.logIndex());
        var notes = new ArrayList<LoggedNote>();
        for (Statement statement : statements) {
            if (statement.logIndex() < under.head().checkpoint().size()) {
                notes.add(new LoggedNote(statement.note(), log.inclusion(statement.logIndex(), under)));
            }
        }
        List<String> limits = under.isAnchored()
                ? List.of()
                : List.of("no witness has cosigned the log of runs over this event, and no time authority stamped it");
        return new Sealed(
                there.checkpoint(),
                there.note(),
                signer(there.note(), there.checkpoint()),
                log.inclusion(there.logIndex(), under),
                notes,
                under.timeTokens(),
                limits);
    }

    /// The leaf that names the checkpoint's key: the heartbeat at the end of the previous batch, or the run's
    /// first leaf.
    private @Nullable ProvenLeaf signer(SignedNote note, Checkpoint checkpoint) throws IOException {
        long before = tree.cache().endBefore(checkpoint.size());
        if (before < 0) {
            throw new DamagedCacheException("no batch of run " + run + " ends at " + checkpoint.size());
        }
        long index = Math.max(0, before - 1);
        byte[] leaf = tree.leaf(index);
        if (SignerLeaf.key(leaf, run) == null) {
            return null;
        }
        var prover = new TreeProver(tree.hashes());
        return new ProvenLeaf(leaf, LogProof.of(prover.inclusion(index, checkpoint.size()), note));
    }

    private LogProof inRun(long index, Sealed under) throws IOException {
        var prover = new TreeProver(tree.hashes());
        return LogProof.of(prover.inclusion(index, under.checkpoint().size()), under.note());
    }
}
