package blackbox.recorder.witness;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.NoteVerifiers;
import java.util.ArrayList;
import java.util.List;

/// The list of logs that a witness knows: a file with one verifier key per line, and comment lines that begin
/// with `#`.
public final class WitnessLogs {

    private WitnessLogs() {}

    /// Reads the list.
    ///
    /// @throws IllegalArgumentException when a line is not a verifier key, with the line's number
    public static List<NoteVerifier> parse(String text) {
        var keys = new ArrayList<NoteVerifier>();
        String[] lines = text.split("\n", -1);
        for (int i = 0; i < lines.length; i++) {
            String line = lines[i].strip();
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            try {
                keys.add(NoteVerifiers.parse(line));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("line " + (i + 1) + ": " + e.getMessage(), e);
            }
        }
        return List.copyOf(keys);
    }
}
