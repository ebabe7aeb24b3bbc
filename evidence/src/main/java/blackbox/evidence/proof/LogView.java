package blackbox.evidence.proof;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.LogProof;
import blackbox.evidence.log.TileHashes;
import blackbox.evidence.log.TreeProver;
import blackbox.evidence.store.TransparencyLogReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The log of runs at one moment: its last checkpoint and the earlier ones that were anchored. Makes proofs
/// and checks them. Owned by one thread.
final class LogView {

    private final TransparencyLogReader log;
    private final TransparencyLogReader.@Nullable Head head;
    private final List<Anchor> anchors = new ArrayList<>();

    LogView(TransparencyLogReader log) throws IOException {
        this.log = log;
        this.head = log.head();
        for (TransparencyLogReader.AnchorFile file : log.anchorFiles()) {
            TransparencyLogReader.Head anchor = TransparencyLogReader.Head.parse(file.note());
            if (anchor != null) {
                anchors.add(new Anchor(anchor, file.stamps()));
            }
        }
    }

    private record Anchor(TransparencyLogReader.Head head, List<TransparencyLogReader.StampFile> stamps) {

        Anchored read() throws IOException {
            var tokens = new ArrayList<byte[]>();
            for (TransparencyLogReader.StampFile stamp : stamps) {
                tokens.add(stamp.octets());
            }
            return new Anchored(head, true, tokens);
        }
    }

    /// A checkpoint against which entries are proven.
    record Anchored(TransparencyLogReader.Head head, boolean isAnchored, List<byte[]> timeTokens) {}

    void entries(TransparencyLogReader.EntrySink sink) throws IOException {
        if (head != null) {
            log.entries(head.checkpoint().size(), sink);
        }
    }

    /// The first anchored checkpoint over an entry, or the last checkpoint if none is anchored.
    Anchored over(long index) throws IOException {
        TransparencyLogReader.Head last = head;
        if (last == null || last.checkpoint().size() <= index) {
            throw new IllegalArgumentException("the log of runs has no entry " + index);
        }
        for (Anchor anchor : anchors) {
            if (anchor.head().checkpoint().size() > index
                    && isOfLog(anchor.head().checkpoint(), last.checkpoint())) {
                return anchor.read();
            }
        }
        return new Anchored(last, false, List.of());
    }

    /// Whether a checkpoint is an earlier state of this log; other anchors are not used for proofs.
    private boolean isOfLog(Checkpoint anchor, Checkpoint last) throws IOException {
        return anchor.origin().equals(last.origin())
                && anchor.size() <= last.size()
                && new TreeProver(new TileHashes(log, last.size()))
                        .root(anchor.size())
                        .equals(anchor.root());
    }

    /// The proof that entry `index` is in the log.
    ///
    /// @throws IOException when the log's tiles do not lead to its checkpoint
    LogProof inclusion(long index, Anchored under) throws IOException {
        long size = under.head().checkpoint().size();
        var hashes = new TileHashes(log, size);
        LogProof proof = LogProof.of(
                new TreeProver(hashes).inclusion(index, size), under.head().note());
        if (proof.proven(hashes.at(0, index)) == null) {
            throw new IOException("the tiles of the log of runs do not lead to its checkpoint of size " + size);
        }
        return proof;
    }
}
