package blackbox.evidence.trust;

import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.time.Instant;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// That a run was replayed, and with what outcome: the text of a signed note that is a leaf of the log of
/// runs. The whole verdict is a document beside it, which the note binds by its hash; see
/// `schemas/replay.md`.
///
/// @param document SHA-256 of the verdict's document, octet for octet
/// @param at when the verdict was given, on the host's clock
public record ReplayNote(RunId run, ReplayMethod tier, Outcome outcome, Hash document, Instant at) {

    private static final String VERSION_LINE = "blackbox/replay/v1";
    private static final int LINES = 6;

    /// How faithfully a run can be replayed; fixed when it is recorded.
    public enum ReplayMethod {
        /// Instruction by instruction, from a log of everything nondeterministic.
        EXACT,
        /// Executed anew from the same start, with the network served from the recording.
        RERUN;

        /// The word in notes and documents.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// The outcome.
    public enum Outcome {
        /// Everything that was compared is the same.
        IDENTICAL,
        /// The same except for differences that the named rules permit.
        EQUIVALENT,
        /// Something else happened.
        DIVERGED,
        /// It agrees as far as it got, but not everything could be replayed or compared.
        INCOMPLETE,
        /// The replaying machine failed, which says nothing about the run.
        ENGINE_FAILED;

        /// Whether the run was confirmed.
        public boolean holds() {
            return this == IDENTICAL || this == EQUIVALENT;
        }
    }

    public ReplayNote {
        NoteTime.require(at);
    }

    /// The text that is signed, ending in a newline.
    public String text() {
        return String.join(
                        "\n",
                        VERSION_LINE,
                        run.value(),
                        tier.word(),
                        outcome.name(),
                        document.toString(),
                        NoteTime.text(at))
                + "\n";
    }

    /// Whether a note's text says that it is such a note, of whatever version.
    public static boolean isOne(String text) {
        return text.startsWith("blackbox/replay/");
    }

    /// Reads a signed note's text; null where it is not exactly a version 1 note.
    public static @Nullable ReplayNote parse(String text) {
        String[] lines = text.split("\n", -1);
        Instant at = lines.length == LINES + 1 ? NoteTime.parse(lines[5]) : null;
        if (at == null) {
            return null;
        }
        ReplayMethod tier = of(ReplayMethod.values(), ReplayMethod::word, lines[2]);
        Outcome outcome = of(Outcome.values(), Outcome::name, lines[3]);
        if (tier == null || outcome == null) {
            return null;
        }
        try {
            var note = new ReplayNote(new RunId(lines[1]), tier, outcome, Hash.ofHex(lines[4]), at);
            return note.text().equals(text) ? note : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static <T> @Nullable T of(T[] all, Function<T, String> word, String wanted) {
        for (T each : all) {
            if (word.apply(each).equals(wanted)) {
                return each;
            }
        }
        return null;
    }
}
