package blackbox.evidence.log;

import blackbox.schemas.Hash;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A proof that a leaf is in a log, to be checked offline (`c2sp.org/tlog-proof@v1`): the leaf's index, the
/// hashes from its sibling to the root's child, and the signed checkpoint of the tree. The application
/// defines the meaning of `extra`, which nothing covers.
public record LogProof(byte @Nullable [] extra, long index, List<Hash> path, SignedNote note) {

    /// The first line, which is the format's version.
    public static final String VERSION = "c2sp.org/tlog-proof@v1";

    private static final int PATH_MAX = 63;
    private static final String EXTRA = "extra ";
    private static final String INDEX = "index ";
    private static final String DECIMAL = "0|[1-9][0-9]{0,18}";

    public LogProof {
        path = List.copyOf(path);
        if (index < 0 || path.size() > PATH_MAX) {
            throw new IllegalArgumentException("not a log proof: index " + index + ", " + path.size() + " hashes");
        }
    }

    /// A proof without extra octets.
    public static LogProof of(InclusionProof proof, SignedNote note) {
        return new LogProof(null, proof.index(), proof.path(), note);
    }

    /// The proof as text, ending in a newline.
    public String encoded() {
        var text = new StringBuilder(VERSION).append('\n');
        if (extra != null) {
            text.append(EXTRA).append(Base64.getEncoder().encodeToString(extra)).append('\n');
        }
        text.append(INDEX).append(index).append('\n');
        for (Hash hash : path) {
            text.append(Base64.getEncoder().encodeToString(hash.toBytes())).append('\n');
        }
        return text.append('\n').append(note.encoded()).toString();
    }

    /// Reads what [#encoded] writes; null if it is malformed. The content is not checked yet: see [#proven].
    public static @Nullable LogProof parse(String text) {
        int split = text.indexOf("\n\n");
        if (split < 0) {
            return null;
        }
        SignedNote note = SignedNote.parse(text.substring(split + 2));
        String[] lines = text.substring(0, split).split("\n", PATH_MAX + 4);
        boolean hasExtra = lines.length > 1 && lines[1].startsWith(EXTRA);
        int at = hasExtra ? 2 : 1;
        if (note == null || Checkpoint.parse(note.text()) == null || !lines[0].equals(VERSION)) {
            return null;
        }
        if (lines.length <= at || !lines[at].startsWith(INDEX)) {
            return null;
        }
        byte[] extra = hasExtra ? SignedNote.base64(lines[1].substring(EXTRA.length())) : null;
        List<Hash> path = hashes(lines, at + 1);
        String index = lines[at].substring(INDEX.length());
        if (hasExtra && extra == null || path == null || !index.matches(DECIMAL)) {
            return null;
        }
        try {
            return new LogProof(extra, Long.parseLong(index), path, note);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static @Nullable List<Hash> hashes(String[] lines, int from) {
        var hashes = new ArrayList<Hash>();
        for (int i = from; i < lines.length; i++) {
            byte[] octets = SignedNote.base64(lines[i]);
            if (octets == null || octets.length != Hash.LENGTH) {
                return null;
            }
            hashes.add(Hash.copyOf(octets, 0));
        }
        return hashes;
    }

    /// The checkpoint whose tree has this leaf at [#index]; null if the proof does not show that. The caller
    /// must still check who signed [#note], and which log the checkpoint names.
    public @Nullable Checkpoint proven(Hash leafHash) {
        Checkpoint checkpoint = Checkpoint.parse(note.text());
        if (checkpoint == null) {
            return null;
        }
        Hash root = new InclusionProof(index, checkpoint.size(), path).root(leafHash);
        return checkpoint.root().equals(root) ? checkpoint : null;
    }
}
