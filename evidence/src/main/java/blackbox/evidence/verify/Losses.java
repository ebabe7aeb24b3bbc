package blackbox.evidence.verify;

import blackbox.schemas.view.Counts;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// How much of what happened a recording lacks, as far as it knows that itself.
///
/// @param counted events that are known to be lost: declared by the recorder, or missing by the guest's own
/// numbers
/// @param unknownFrom null if that is all. Otherwise the first event from which on it is not known: before it
///     every number that a CPU gave to an event is there or counted as lost; from it on events may be missing
///     that nothing counts
/// @param soFar whether it is not known only because the run goes on
public record Losses(long counted, @Nullable Long unknownFrom, boolean soFar) {

    /// Of a run of which nothing is here.
    public static final Losses NOT_KNOWN = new Losses(0, 0L, false);

    /// A sum of losses for people: `7`, or `at least 9223372036854775807`.
    public static String inWords(long sum) {
        return (Counts.isBeyondCount(sum) ? "at least " : "") + sum;
    }

    /// Whether [#counted] is all that was lost.
    public boolean isKnown() {
        return unknownFrom == null;
    }

    /// Whether there are none, and that is known.
    public boolean areNone() {
        return isKnown() && counted == 0;
    }

    /// As a clause for people. "0 lost" stands only where it is known.
    public String inWords() {
        if (isKnown()) {
            return counted + " lost";
        }
        if (soFar) {
            return counted == 0 ? "none known to be lost so far" : counted + " lost so far";
        }
        String unknown = "not known from event " + unknownFrom + " on";
        return counted == 0 ? "losses " + unknown : "at least " + counted + " lost, " + unknown;
    }

    /// Writes the fields `lost`, `lossKnown` and `unknownFrom`.
    public void writeFields(JsonGenerator out) throws IOException {
        out.writeNumberField("lost", counted);
        out.writeBooleanField("lossKnown", isKnown());
        writeUnknownFrom(out, unknownFrom);
    }

    /// Writes the field `unknownFrom`, null where everything is known.
    static void writeUnknownFrom(JsonGenerator out, @Nullable Long unknownFrom) throws IOException {
        if (unknownFrom == null) {
            out.writeNullField("unknownFrom");
        } else {
            out.writeNumberField("unknownFrom", unknownFrom);
        }
    }
}
