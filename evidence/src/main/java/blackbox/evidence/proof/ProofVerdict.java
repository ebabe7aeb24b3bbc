package blackbox.evidence.proof;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.TrustPolicy.Cosigned;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Integrity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The result of checking a proof. Integrity, time and authorship are about this one event. Completeness is about its
/// run, and always UNKNOWN: one event does not show what else there was.
///
/// @param whole whether the proof itself lacks nothing; not as long as only the run vouches for its keys, because the
///     log of runs does not contain its checkpoint yet
/// @param proof what was read; null if it could not be read
/// @param kind the event's kind; null if its leaf is of an unknown form
/// @param atNs the event's time, nanoseconds since 1970 on the host's clock; 0 if it has none
/// @param run the run's checkpoint against which the event is proven; null if it is not
/// @param log the checkpoint of the log of runs that holds it; null if none does
/// @param cosigned the witnesses that saw the log's checkpoint
/// @param stamped the time stamps on it, in words
/// @param limits what the proof does not show, in words
public record ProofVerdict(
        Verification verification,
        boolean whole,
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

    /// Whether the event is proven: in the run's tree, under trusted keys, with nothing missing.
    public boolean holds() {
        return verification.integrity() == Integrity.VERIFIED
                && whole
                && verification.authorship().trusted();
    }
}
