package blackbox.evidence.trust;

import blackbox.evidence.sign.Ed25519Verifier;
import blackbox.schemas.RunId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// What the long-term key signs before a run begins: that this key seals the run's first epoch. The text of
/// the note that is in the `run.open` leaf and, as the first leaf about the run, in the log of runs; see
/// `schemas/trust.md`.
///
/// @param firstKey the key of epoch 0, named by the run's origin
/// @param issued when it was signed, on the host's clock
public record RunKeyCertificate(RunId run, Ed25519Verifier firstKey, Instant issued) {

    private static final String VERSION_LINE = "blackbox/run-key/v1";
    private static final int LINES = 4;

    public RunKeyCertificate {
        if (!firstKey.name().equals(run.origin())) {
            throw new IllegalArgumentException(
                    "the key of a run's first epoch is named " + run.origin() + ", not " + firstKey.name());
        }
        NoteTime.require(issued);
    }

    /// The text that is signed, ending in a newline.
    public String text() {
        return VERSION_LINE + "\n" + run + "\n" + firstKey.encoded() + "\n" + NoteTime.text(issued) + "\n";
    }

    /// Reads a signed note's text; null where it is not exactly a version 1 certificate.
    public static @Nullable RunKeyCertificate parse(String text) {
        String[] lines = text.split("\n", -1);
        Instant issued = lines.length == LINES + 1 ? NoteTime.parse(lines[3]) : null;
        if (issued == null) {
            return null;
        }
        try {
            var certificate = new RunKeyCertificate(new RunId(lines[1]), Ed25519Verifier.parse(lines[2]), issued);
            return certificate.text().equals(text) ? certificate : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
