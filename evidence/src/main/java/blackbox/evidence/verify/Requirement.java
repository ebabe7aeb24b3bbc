package blackbox.evidence.verify;

import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Time;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What may be required of a run besides that it [holds][Verification#holds].
public enum Requirement {
    /// Losses, too, are not enough if they are declared.
    COMPLETE("nothing of it was lost"),
    /// Of all its events, not only the first ones.
    ANCHORED("trusted outside parties vouch for when it was"),
    /// Each of the keys.
    TRUSTED("the keys that signed it are trusted"),
    /// From before the agent began.
    ARMED("it could be stopped from its host all the time");

    private final String what;

    Requirement(String what) {
        this.what = what;
    }

    private boolean isMetBy(Verification run) {
        return switch (this) {
            case COMPLETE -> run.completeness() == Completeness.COMPLETE;
            case ANCHORED -> run.time() == Time.ANCHORED;
            case TRUSTED -> run.authorship().trusted();
            case ARMED -> {
                ControlFacts control = run.control();
                yield control != null && control.armed();
            }
        };
    }

    /// As users write it.
    public String requirementName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// Those of these names.
    ///
    /// @throws IllegalArgumentException when one has another name; the message lists them all
    public static List<Requirement> named(Collection<String> names) {
        return names.stream().map(Requirement::named).distinct().toList();
    }

    private static Requirement named(String name) {
        return Stream.of(values())
                .filter(each -> each.requirementName().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("'" + name + "' cannot be required; choose from "
                        + Stream.of(values())
                                .map(each -> each.requirementName() + " (" + each.what + ")")
                                .collect(Collectors.joining(", "))));
    }

    /// Those of `required` that are not met.
    public static List<Requirement> unmet(Collection<Requirement> required, Verification run) {
        return required.stream().filter(each -> !each.isMetBy(run)).toList();
    }

    /// Writes the field `unmet`.
    public static void writeUnmet(JsonGenerator out, Collection<Requirement> unmet) throws IOException {
        out.writeArrayFieldStart("unmet");
        for (Requirement each : unmet) {
            out.writeString(each.requirementName());
        }
        out.writeEndArray();
    }

    /// The sentence for people: what was required and is not so.
    public String unmetSentence() {
        return "required, and not so: " + requirementName() + " (" + what + ")";
    }

    /// The names, for completion.
    public static final class Names implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Arrays.stream(values()).map(Requirement::requirementName).iterator();
        }
    }
}
