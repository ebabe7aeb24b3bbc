package blackbox.evidence.witness;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.ConsistencyProof;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.TreeHasher;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A witness's decision about a request (C2SP tlog-witness, "add-checkpoint"), and its HTTP status.
public enum WitnessVerdict {

    /// The checkpoint continues what is known: to be recorded, and only then cosigned.
    COSIGN(200),
    /// No log of this origin is known.
    UNKNOWN_LOG(404),
    /// No key of this log has signed the checkpoint, or a signature of one does not verify.
    NOT_SIGNED(403),
    /// The request's old size is above the checkpoint's.
    BACKWARDS(400),
    /// The old size is not that of the checkpoint that was cosigned last, or the tree of that size had a
    /// different root.
    CONFLICT(409),
    /// The proof does not lead from what was cosigned last to the checkpoint.
    INCONSISTENT(422);

    private final int status;

    WitnessVerdict(int status) {
        this.status = status;
    }

    /// The HTTP status.
    public int status() {
        return status;
    }

    /// Decides.
    ///
    /// @param keys the keys of the logs that the witness knows; a key's name is its log's origin
    /// @param last what was cosigned last for the request's origin; null if nothing was
    public static WitnessVerdict of(
            AddCheckpoint request, Collection<? extends NoteVerifier> keys, @Nullable Checkpoint last) {
        Checkpoint checkpoint = request.checkpoint();
        List<? extends NoteVerifier> known = keys.stream()
                .filter(key -> key.name().equals(checkpoint.origin()))
                .toList();
        if (known.isEmpty()) {
            return UNKNOWN_LOG;
        }
        if (request.note().signedBy(known) == null) {
            return NOT_SIGNED;
        }
        if (request.oldSize() > checkpoint.size()) {
            return BACKWARDS;
        }
        long lastSize = last == null ? 0 : last.size();
        if (request.oldSize() != lastSize
                || last != null
                        && checkpoint.size() == lastSize
                        && !checkpoint.root().equals(last.root())) {
            return CONFLICT;
        }
        return continues(request, last) ? COSIGN : INCONSISTENT;
    }

    private static boolean continues(AddCheckpoint request, @Nullable Checkpoint last) {
        Checkpoint checkpoint = request.checkpoint();
        if (last == null || last.size() == 0) {
            // Every tree extends the empty one, of which only the root is known beforehand.
            return request.path().isEmpty()
                    && (checkpoint.size() > 0 || checkpoint.root().equals(TreeHasher.EMPTY_ROOT));
        }
        return new ConsistencyProof(request.oldSize(), checkpoint.size(), request.path())
                .holds(last.root(), checkpoint.root());
    }
}
