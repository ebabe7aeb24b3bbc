package blackbox.ingest.table;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.SignedNote;
import blackbox.ingest.check.ChainState;
import blackbox.schemas.RunId;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The state of a run where no data file's footer has it: of one that a refused batch stopped after its
/// last row, and of one that was open when an older version committed last. The text of the note
/// `run.state` in the run's folder, signed by the ingest key as seals are; see `schemas/table.md`.
record RunState(RunId run, ChainState state) {

    /// What is read of a note.
    static final int BYTES_MAX = 1 << 14;

    private static final String VERSION_LINE = "blackbox/run-state/v3";
    private static final int LINES = 3;

    private String text() {
        return VERSION_LINE + "\n" + run + "\n" + state.text() + "\n";
    }

    byte[] signedBy(NoteSigner signer) {
        return SignedNote.sign(text(), signer).getBytes(StandardCharsets.UTF_8);
    }

    /// The note in these octets, whoever signed it; null if they are not exactly one.
    static @Nullable SignedNote noteOf(byte[] octets) {
        String text = new String(octets, StandardCharsets.UTF_8);
        return Arrays.equals(text.getBytes(StandardCharsets.UTF_8), octets) ? SignedNote.parse(text) : null;
    }

    /// Reads a signed note's text; null where it is not exactly a state of `run`.
    static @Nullable ChainState parse(String text, RunId run) {
        String[] lines = text.split("\n", -1);
        if (lines.length != LINES + 1) {
            return null;
        }
        try {
            ChainState state = ChainState.parse(lines[2]);
            return new RunState(run, state).text().equals(text) ? state : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
