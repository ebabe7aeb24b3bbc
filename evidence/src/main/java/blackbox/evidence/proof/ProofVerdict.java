package blackbox.evidence.proof;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.TrustPolicy.Cosigned;
import blackbox.evidence.verify.Verification;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the check of a proof found. The four answers are about this one event: COMPLETE means that nothing of
/// its proof is missing, OPEN that the log of runs does not hold its checkpoint yet.
///
/// @param proof what was read; null where it could not be
/// @param kind the event's kind; null where its leaf is of no known form
/// @param atNs the event's time, nanoseconds since 1970 on the host's clock; 0 where it has none
/// @param run the run's checkpoint that the event is proven against; null where it is not
/// @param log the checkpoint of the log of runs that holds it; null where none does
/// @param cosigned the witnesses that saw the log's checkpoint
/// @param stamped the time stamps on it, in words
/// @param limits what the proof does not show, in words
public record ProofVerdict(
        Verification verification,
        @Nullable EventProof proof,
        @Nullable String kind,
        long atNs,
        @Nullable Checkpoint run,
        @Nullable Checkpoint log,
        List<Cosigned> cosigned,
        List<String> stamped,
        List<String> limits) {

    public ProofVerdict {
        cosigned = List.copyOf(cosigned);
        stamped = List.copyOf(stamped);
        limits = List.copyOf(limits);
    }

    /// Whether the event stands: in the run's tree, under keys that are trusted, with nothing missing.
    public boolean holds() {
        return verification.holds() && verification.authorship().trusted();
    }
}
