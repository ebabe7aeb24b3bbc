package blackbox.replay.inputs;

import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.verdict.Refusal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Compares QEMU's command lines, word by word: one more kernel argument or one device less makes a different
/// machine.
public final class Argv {
    private static final String NO_WORD = "(no word)";
    private static final String MEND = "replay with the Blackbox that recorded it, on a machine of the same kind;"
            + " `blackbox show RUN --json` shows the sealed command line as detail.start.argv";

    private Argv() {}

    /// The first difference, or null.
    ///
    /// @param sealed as the run's first event has it
    /// @param now as a replay would be started; the caller must already have replaced words that differ by design
    ///     (what to record to)
    public static @Nullable Refusal compare(List<String> sealed, List<String> now) {
        int length = Math.max(sealed.size(), now.size());
        for (int i = 0; i < length; i++) {
            String expected = i < sealed.size() ? sealed.get(i) : NO_WORD;
            String actual = i < now.size() ? now.get(i) : NO_WORD;
            if (!expected.equals(actual)) {
                String before = i == 0 ? "" : ", after '" + sealed.get(Math.min(i, sealed.size()) - 1) + "'";
                return new Refusal(
                        DivergenceClass.ENGINE,
                        "QEMU's command line, word " + (i + 1) + before,
                        expected,
                        actual,
                        MEND);
            }
        }
        return null;
    }
}
