package blackbox.evidence.proof;

import blackbox.evidence.log.LogProof;
import blackbox.evidence.log.SignedNote;
import blackbox.schemas.RunId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A proof of one event (`schemas/proof.md`), as it was read: nothing in it has been checked yet, see
/// [ProofVerifier].
///
/// @param index the event's index in the run
/// @param event the event's leaf, in the run's tree
/// @param signer the leaf that names the key of the run's checkpoint; null if a long-term key signed it
///     directly
/// @param inLog the run's checkpoint in the log of runs; null if the log does not contain it yet
/// @param statements the log's key statements, in its order
/// @param timeTokens RFC 3161 time-stamp responses over the text of the log's checkpoint
/// @param limits what the proof does not show, in words for people
public record EventProof(
        RunId run,
        long index,
        ProvenLeaf event,
        @Nullable ProvenLeaf signer,
        @Nullable LogProof inLog,
        List<LoggedNote> statements,
        List<byte[]> timeTokens,
        List<String> limits) {

    /// Name and version of the format.
    public static final String FORMAT = "blackbox/event-proof/v1";

    /// The longest proof that is read, in octets.
    public static final int BYTES_MAX = 4 << 20;

    /// A leaf of the run and the proof that it is in the run's tree.
    public record ProvenLeaf(byte[] leaf, LogProof inRun) {}

    /// A note and the proof that it is a leaf of the log of runs.
    public record LoggedNote(SignedNote note, LogProof inLog) {}

    public EventProof {
        statements = List.copyOf(statements);
        timeTokens = List.copyOf(timeTokens);
        limits = List.copyOf(limits);
    }
}
