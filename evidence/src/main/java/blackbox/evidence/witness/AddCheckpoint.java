package blackbox.evidence.witness;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.ConsistencyProof;
import blackbox.evidence.log.SignedNote;
import blackbox.schemas.Hash;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A request to cosign a checkpoint: the size that the witness knows, the proof from there, and the
/// checkpoint as its log signed it. The proof may be wrong; [WitnessVerdict#of] judges it.
public record AddCheckpoint(long oldSize, List<Hash> path, SignedNote note, Checkpoint checkpoint) {

    /// Longest body that is read, in octets: enough for 63 hashes and a note with 100 signatures, including
    /// ML-DSA ones.
    public static final int OCTETS_MAX = 512 << 10;

    /// The maximum number of lines of proof.
    public static final int PATH_MAX = 63;

    private static final Pattern OLD = Pattern.compile("old (0|[1-9][0-9]{0,18})");

    public AddCheckpoint {
        path = List.copyOf(path);
        if (oldSize < 0 || path.size() > PATH_MAX) {
            throw new IllegalArgumentException("not a request: old size " + oldSize + ", " + path.size() + " hashes");
        }
    }

    /// The request to cosign `note`, for a witness that knows the tree from which `proof` begins.
    ///
    /// @throws IllegalArgumentException when the note is not a checkpoint, or the proof leads elsewhere
    public static AddCheckpoint of(ConsistencyProof proof, SignedNote note) {
        Checkpoint checkpoint = Checkpoint.parse(note.text());
        if (checkpoint == null || proof.newSize() != checkpoint.size()) {
            throw new IllegalArgumentException("the proof does not lead to the checkpoint");
        }
        return new AddCheckpoint(proof.oldSize(), proof.path(), note, checkpoint);
    }

    /// The request's body.
    public byte[] encoded() {
        var body = new StringBuilder("old " + oldSize + "\n");
        for (Hash hash : path) {
            body.append(Base64.getEncoder().encodeToString(hash.toBytes())).append('\n');
        }
        return body.append('\n').append(note.encoded()).toString().getBytes(StandardCharsets.UTF_8);
    }

    /// Reads a body; null if it is malformed. A checkpoint with extension lines counts as malformed.
    public static @Nullable AddCheckpoint parse(byte[] octets) {
        if (octets.length > OCTETS_MAX) {
            return null;
        }
        try {
            String body = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(octets))
                    .toString();
            int end = body.indexOf("\n\n");
            return end < 0 ? null : parse(body.substring(0, end), body.substring(end + 2));
        } catch (CharacterCodingException | IllegalArgumentException e) {
            return null;
        }
    }

    private static @Nullable AddCheckpoint parse(String head, String rest) {
        String[] lines = head.split("\n", PATH_MAX + 2);
        var old = OLD.matcher(lines[0]);
        SignedNote note = SignedNote.parse(rest);
        Checkpoint checkpoint = note == null ? null : Checkpoint.parse(note.text());
        if (!old.matches() || note == null || checkpoint == null || lines.length > PATH_MAX + 1) {
            return null;
        }
        var path = new ArrayList<Hash>();
        for (int i = 1; i < lines.length; i++) {
            byte[] hash = Base64.getDecoder().decode(lines[i]);
            if (hash.length != Hash.LENGTH
                    || !Base64.getEncoder().encodeToString(hash).equals(lines[i])) {
                return null;
            }
            path.add(Hash.copyOf(hash, 0));
        }
        return new AddCheckpoint(Long.parseLong(old.group(1)), path, note, checkpoint);
    }
}
