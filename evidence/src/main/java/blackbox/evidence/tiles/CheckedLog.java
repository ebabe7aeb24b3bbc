package blackbox.evidence.tiles;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.ConsistencyProof;
import blackbox.evidence.log.InclusionProof;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TileHashes;
import blackbox.evidence.log.TreeProver;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.trust.KeyHistory;
import blackbox.evidence.trust.KeyStatement;
import blackbox.evidence.trust.ReplayNote;
import blackbox.evidence.trust.RunKeyCertificate;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A log of runs that was read from its first leaf to its last and verified: its tree is the one that its
/// checkpoint signs, each tile belongs to that tree, the checkpoint is signed by the key that the log itself
/// names for its size, and one of the log's own keys is trusted.
///
/// Costs one pass over all entries, and memory for the leaves about the one run that is asked about and for one
/// certificate of every other run.
public final class CheckedLog {

    private static final int ATTEMPTS_MAX = 5;

    private final TransparencyLogReader.Head head;
    private final KeyHistory keys;
    private final List<RunLeaf> leaves;
    private final List<Replayed> replays;
    private final Map<RunId, Certified> runs;
    private final @Nullable Instant newerBefore;
    private final TransparencyLogReader files;

    private CheckedLog(TransparencyLogReader files, TransparencyLogReader.Head head, Pass pass) {
        this.files = files;
        this.head = head;
        this.keys = pass.keys;
        this.leaves = List.copyOf(pass.leaves);
        this.replays = List.copyOf(pass.replays);
        this.newerBefore = pass.newerBefore;
        this.runs = Collections.unmodifiableMap(pass.runs);
    }

    /// The result of checking a log of runs.
    public sealed interface Outcome {}

    /// It holds.
    public record Holds(CheckedLog log) implements Outcome {}

    /// There is none.
    public record Absent() implements Outcome {}

    /// It does not hold, and nothing in it is accepted.
    public record Broken(String why) implements Outcome {}

    /// A leaf about a run.
    public sealed interface RunLeaf {

        /// The leaf's index in the log of runs.
        long index();

        /// The leaf.
        SignedNote note();
    }

    /// The run's beginning: which key seals its first epoch. Signed by a key that was valid then.
    public record Opened(long index, SignedNote note, RunKeyCertificate certificate) implements RunLeaf {}

    /// A checkpoint of the run's own tree, as the recorder logged it. It is signed by a key of the run, which
    /// only the run itself names, so the signature is not checked here.
    ///
    /// @param after the latest time in a leaf before this one
    public record Logged(long index, SignedNote note, Checkpoint checkpoint, Instant after) implements RunLeaf {}

    /// That the run was replayed, and with what outcome. Signed by a key that was valid then. It says nothing
    /// about how the run was recorded, so it is not a [RunLeaf].
    public record Replayed(long index, SignedNote note, ReplayNote verdict) {}

    /// What the log says of a run among others. The log's checkpoint vouches for it; who signed the leaf itself is
    /// checked only for the run that is asked about.
    ///
    /// @param index of the leaf with the certificate of its first key
    /// @param issued when that was
    public record Certified(long index, Instant issued) {}

    /// Reads and checks the log; a second time if a writer has continued it meanwhile.
    ///
    /// @param trusted the keys that are trusted to begin with
    /// @param run whose leaves are wanted, or null for none
    /// @throws IOException when a file is there and cannot be read
    public static Outcome readSettled(
            TransparencyLogReader files, Collection<? extends NoteVerifier> trusted, @Nullable RunId run)
            throws IOException {
        for (int attempt = 1; ; attempt++) {
            String before = headOf(files);
            Outcome outcome = read(files, trusted, run);
            if (!(outcome instanceof Broken) || attempt == ATTEMPTS_MAX || before.equals(headOf(files))) {
                return outcome;
            }
        }
    }

    /// The log's checkpoint as a text to compare; empty where there is none that can be read.
    public static String headOf(TransparencyLogReader files) {
        try {
            TransparencyLogReader.Head head = files.head();
            return head == null ? "" : head.note().text();
        } catch (IOException e) {
            return "";
        }
    }

    /// Reads and checks the log.
    ///
    /// @param trusted the keys that are trusted initially
    /// @param run whose leaves are wanted, or null for none
    /// @throws IOException when a file exists but cannot be read
    public static Outcome read(
            TransparencyLogReader files, Collection<? extends NoteVerifier> trusted, @Nullable RunId run)
            throws IOException {
        TransparencyLogReader.Head head;
        try {
            head = files.head();
        } catch (IOException e) {
            return new Broken(String.valueOf(e.getMessage()));
        }
        if (head == null) {
            return files.isEmpty() ? new Absent() : new Broken("the log of runs has entries but no checkpoint");
        }
        var pass = new Pass(files, head, trusted, run);
        try {
            String fault = pass.run();
            return fault == null
                    ? new Holds(new CheckedLog(files, head, pass))
                    : new Broken("the log of runs: " + fault);
        } catch (IOException e) {
            return new Broken("the log of runs: " + e.getMessage());
        }
    }

    /// The log's checkpoint.
    public Checkpoint checkpoint() {
        return head.checkpoint();
    }

    /// The checkpoint with its signatures.
    public SignedNote note() {
        return head.note();
    }

    /// The keys that the log names, from its beginning to its end.
    public KeyHistory keys() {
        return keys;
    }

    /// The leaves about the run that was asked about, in the log's order.
    public List<RunLeaf> leaves() {
        return leaves;
    }

    /// The latest time in a leaf before the certificate of the run that is asked about, if it is later than the
    /// certificate's own; else null. The host's clock had been set back then.
    public @Nullable Instant newerBefore() {
        return newerBefore;
    }

    /// All runs that the log has a certificate of, in the log's order.
    public Map<RunId, Certified> runs() {
        return runs;
    }

    /// The verdicts on replays of the run that was asked about, in the log's order.
    public List<Replayed> replays() {
        return replays;
    }

    /// The proof that the leaf at `index` is in the log under its checkpoint.
    public InclusionProof inclusion(long index) throws IOException {
        return prover().inclusion(index, head.checkpoint().size());
    }

    /// The proof that this log is an extension of its state at `size` leaves.
    public ConsistencyProof consistency(long size) throws IOException {
        return prover().consistency(size, head.checkpoint().size());
    }

    /// The root of the log when it had `size` leaves.
    public Hash rootAt(long size) throws IOException {
        return prover().root(size);
    }

    /// How this log contradicts a checkpoint that somebody kept, or null if it is an extension of it.
    ///
    /// @param kept its signature is checked here too, with the keys that the log names for that size
    public @Nullable String departsFrom(SignedNote kept) throws IOException {
        Checkpoint checkpoint = Checkpoint.parse(kept.text());
        if (checkpoint == null) {
            return "the kept file is not a checkpoint";
        }
        if (!checkpoint.origin().equals(head.checkpoint().origin())) {
            return "the kept checkpoint is of another log, " + checkpoint.origin();
        }
        if (kept.signedBy(keys.believed(KeyStatement.Role.LOG, checkpoint.size())) == null) {
            return "the kept checkpoint is not signed by a key of this log";
        }
        if (checkpoint.size() > head.checkpoint().size()) {
            return "the log has " + head.checkpoint().size() + " leaves but had " + checkpoint.size()
                    + " at the kept checkpoint: it was rolled back";
        }
        return rootAt(checkpoint.size()).equals(checkpoint.root())
                ? null
                : "the log at " + checkpoint.size() + " leaves differs from the kept checkpoint: its history was"
                        + " changed";
    }

    private TreeProver prover() {
        return new TreeProver(new TileHashes(files, head.checkpoint().size()));
    }

    /// One pass over the entries.
    private static final class Pass {

        private static final String UNBELIEVED = " is not signed by a key that was valid at that point of the log";

        private final TransparencyLogReader files;
        private final TransparencyLogReader.Head head;
        private final Collection<? extends NoteVerifier> trusted;
        private final @Nullable RunId run;
        private final KeyHistory keys;
        private final List<RunLeaf> leaves = new ArrayList<>();
        private final List<Replayed> replays = new ArrayList<>();
        private final Map<RunId, Certified> runs = new LinkedHashMap<>();
        private final TileCheck tiles;
        private Instant latest = Instant.EPOCH;
        private @Nullable Instant newerBefore;
        private @Nullable String fault;

        Pass(
                TransparencyLogReader files,
                TransparencyLogReader.Head head,
                Collection<? extends NoteVerifier> trusted,
                @Nullable RunId run) {
            this.files = files;
            this.head = head;
            this.trusted = trusted;
            this.run = run;
            this.keys = new KeyHistory(trusted);
            this.tiles = new TileCheck(files);
        }

        @Nullable
        String run() throws IOException {
            files.entries(head.checkpoint().size(), this::take);
            if (fault != null) {
                return fault;
            }
            if (!tiles.root().equals(head.checkpoint().root())) {
                return "its entries do not lead to the root that its checkpoint signs";
            }
            String tile = tiles.fault();
            return tile != null ? tile : checkpointFault();
        }

        private @Nullable String checkpointFault() {
            if (!keys.isTrusted()) {
                return "none of its keys is trusted";
            }
            if (!head.checkpoint().origin().equals(keys.origin())) {
                return "its checkpoint is of another log, " + head.checkpoint().origin();
            }
            var believed = new ArrayList<NoteVerifier>(
                    keys.believed(KeyStatement.Role.LOG, head.checkpoint().size()));
            if (head.note().signedBy(believed) == null) {
                return "its checkpoint is not signed by the key that signs it at "
                        + head.checkpoint().size() + " leaves";
            }
            // The signature line of a trusted companion key (post-quantum) may be missing; if it is present,
            // it must verify.
            believed.addAll(trusted);
            return head.note().signedBy(believed) == null ? "a signature on its checkpoint does not verify" : null;
        }

        private void take(long index, byte[] entry) throws IOException {
            tiles.append(entry);
            if (fault == null) {
                fault = faultOf(index, entry);
            }
        }

        private @Nullable String faultOf(long index, byte[] entry) {
            SignedNote note = SignedNote.parse(entry);
            if (note == null) {
                return "leaf " + index + " is not a signed note";
            }
            if (KeyStatement.isOne(note.text())) {
                String wrong = keys.add(index, note);
                passed(keys.latest());
                return wrong == null ? null : "leaf " + index + ", a key statement: " + wrong;
            }
            if (index == 0) {
                return "it does not begin with the statement that names its first key";
            }
            Checkpoint checkpoint = Checkpoint.parse(note.text());
            if (checkpoint != null) {
                return logged(index, note, checkpoint);
            }
            if (ReplayNote.isOne(note.text())) {
                return replayed(index, note);
            }
            RunKeyCertificate certificate = RunKeyCertificate.parse(note.text());
            return certificate == null
                    ? "leaf " + index + " is a note of an unknown kind"
                    : opened(index, note, certificate);
        }

        private @Nullable String logged(long index, SignedNote note, Checkpoint checkpoint) {
            if (run != null && checkpoint.origin().equals(run.origin())) {
                leaves.add(new Logged(index, note, checkpoint, latest));
            }
            return null;
        }

        private @Nullable String opened(long index, SignedNote note, RunKeyCertificate certificate) {
            runs.putIfAbsent(certificate.run(), new Certified(index, certificate.issued()));
            if (certificate.run().equals(run) && latest.isAfter(certificate.issued())) {
                newerBefore = latest;
            }
            passed(certificate.issued());
            if (!certificate.run().equals(run)) {
                return null;
            }
            leaves.add(new Opened(index, note, certificate));
            return isBelieved(index, note, certificate.issued())
                    ? null
                    : "leaf " + index + ", the certificate of the run's first key," + UNBELIEVED;
        }

        private @Nullable String replayed(long index, SignedNote note) {
            ReplayNote verdict = ReplayNote.parse(note.text());
            if (verdict == null) {
                return "leaf " + index + " is not a verdict on a replay of a known version";
            }
            passed(verdict.at());
            if (!verdict.run().equals(run)) {
                return null;
            }
            replays.add(new Replayed(index, note, verdict));
            return isBelieved(index, note, verdict.at())
                    ? null
                    : "leaf " + index + ", the verdict on a replay of the run," + UNBELIEVED;
        }

        private void passed(Instant time) {
            latest = time.isAfter(latest) ? time : latest;
        }

        /// Whether one of these keys is trusted shows at the pass's end.
        private boolean isBelieved(long index, SignedNote note, Instant at) {
            return note.signedBy(keys.named(KeyStatement.Role.LOG, index, at)) != null;
        }
    }
}
