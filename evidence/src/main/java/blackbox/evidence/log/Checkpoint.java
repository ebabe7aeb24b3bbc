package blackbox.evidence.log;

import blackbox.schemas.Hash;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/// A log's state (C2SP tlog-checkpoint): the origin that names the log, the number of leaves and the root
/// over them. Checkpoints of ours have no extension lines; readers refuse any.
public record Checkpoint(String origin, long size, Hash root) {

    private static final String DECIMAL = "0|[1-9][0-9]{0,18}";

    public Checkpoint {
        if (origin.isEmpty() || origin.indexOf('\n') >= 0 || size < 0) {
            throw new IllegalArgumentException("not a checkpoint: origin '" + origin + "', size " + size);
        }
    }

    /// The text that is signed, ending in a newline.
    public String text() {
        return origin + "\n" + size + "\n" + Base64.getEncoder().encodeToString(root.toBytes()) + "\n";
    }

    /// Reads a signed note's text; null where it is not exactly a checkpoint.
    public static @Nullable Checkpoint parse(String text) {
        String[] lines = text.split("\n", 4);
        if (lines.length != 4 || !lines[3].isEmpty() || lines[0].isEmpty() || !lines[1].matches(DECIMAL)) {
            return null;
        }
        byte[] root = SignedNote.base64(lines[2]);
        if (root == null || root.length != Hash.LENGTH) {
            return null;
        }
        try {
            return new Checkpoint(lines[0], Long.parseLong(lines[1]), Hash.copyOf(root, 0));
        } catch (NumberFormatException e) {
            return null;
        }
    }
}
