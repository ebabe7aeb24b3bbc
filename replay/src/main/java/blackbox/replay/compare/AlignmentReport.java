package blackbox.replay.compare;

import blackbox.evidence.text.Printable;
import blackbox.replay.divergence.Alignment;
import blackbox.replay.divergence.DivergencePoint;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.verdict.Levels;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The result of a comparison, as JSON fields and as text.
public final class AlignmentReport {

    private AlignmentReport() {}

    /// Writes it as fields of an object that may have others.
    public static void writeFields(JsonGenerator out, ComparedRuns runs) throws IOException {
        Alignment alignment = runs.alignment();
        out.writeStringField("verdict", alignment.outcome().name());
        array(out, "rules", alignment.rules());
        out.writeNumberField("comparedEvents", alignment.comparedEvents());
        out.writeNumberField("recordedEvents", alignment.recordedEvents());
        out.writeNumberField("actualEvents", alignment.actualEvents());
        out.writeFieldName("firstDivergence");
        write(out, alignment.firstDivergence());
        out.writeFieldName("firstPathDifference");
        write(out, alignment.differences().firstPath());
        Alignment.Differences differences = alignment.differences();
        out.writeStringField("equivalence", word(runs));
        out.writeNumberField("pathDifferences", differences.path());
        out.writeNumberField("effectDifferences", differences.effects());
        out.writeArrayFieldStart("effects");
        for (EffectDifference each : differences.shownEffects()) {
            out.writeStartObject();
            out.writeStringField("kind", each.kind().name());
            out.writeStringField("subject", each.subject());
            out.writeStringField("expected", each.expected());
            out.writeStringField("actual", each.actual());
            out.writeEndObject();
        }
        out.writeEndArray();
        array(out, "compared", runs.compared());
        array(out, "notCompared", alignment.notCompared());
        array(out, "next", alignment.next());
    }

    private static @Nullable String word(ComparedRuns runs) {
        Levels.Equivalence equivalence = runs.equivalence();
        return equivalence == null ? null : equivalence.name().toLowerCase(Locale.ROOT);
    }

    private static void write(JsonGenerator out, @Nullable DivergencePoint first) throws IOException {
        if (first == null) {
            out.writeNull();
            return;
        }
        out.writeStartObject();
        out.writeNumberField("index", first.index());
        out.writeNumberField("actualIndex", first.actualIndex());
        out.writeStringField("class", first.reason().name());
        out.writeStringField("expected", first.expected());
        out.writeStringField("actual", first.actual());
        array(out, "causes", first.causes());
        DivergencePoint.Agreed agreed = first.lastAgreed();
        if (agreed == null) {
            out.writeNullField("lastAgreed");
        } else {
            out.writeObjectFieldStart("lastAgreed");
            out.writeNumberField("index", agreed.index());
            out.writeNumberField("actualIndex", agreed.actualIndex());
            out.writeStringField("event", agreed.line());
            out.writeEndObject();
        }
        out.writeObjectFieldStart("context");
        array(out, "recorded", first.recordedContext());
        array(out, "actual", first.actualContext());
        out.writeEndObject();
        out.writeEndObject();
    }

    private static void array(JsonGenerator out, String name, List<String> values) throws IOException {
        out.writeArrayFieldStart(name);
        for (String value : values) {
            out.writeString(value);
        }
        out.writeEndArray();
    }

    /// Prints it for people. `recorded` and `actual` are the names of the two sides.
    public static void print(PrintWriter out, ComparedRuns runs, String recorded, String actual) {
        Alignment alignment = runs.alignment();
        DivergencePoint first = alignment.firstDivergence();
        String word = word(runs);
        out.println("verdict       " + alignment.outcome()
                + (word == null ? "" : word.equals("path") ? " in every event" : " in all effects")
                + (first == null ? "" : " at event " + first.index() + ": " + first.reason()));
        out.println("agreed        " + alignment.comparedEvents() + " events, of " + alignment.recordedEvents()
                + " and " + alignment.actualEvents());
        for (String rule : alignment.rules()) {
            out.println("  under rule  " + meaning(rule));
        }
        if (first != null) {
            print(out, first, recorded, actual);
        }
        Alignment.Differences differences = alignment.differences();
        if (differences.effects() > 0) {
            out.println("effects       " + differences.effects() + " differ");
            differences
                    .shownEffects()
                    .forEach(each -> out.println("  "
                            + Printable.of(each.kind() + " " + each.subject() + ": " + each.expected() + ", then "
                                    + each.actual())));
        }
        if (differences.path() > 0) {
            out.println("path          differs in " + differences.path() + " places");
            DivergencePoint path = differences.firstPath();
            if (path != null) {
                out.println("first there   at event " + path.index() + ": " + path.reason());
                print(out, path, recorded, actual);
            }
        }
        print(out, "compared besides", runs.compared());
        print(out, "not compared", alignment.notCompared());
        print(out, "to see more", alignment.next());
    }

    private static String meaning(String rule) {
        return Alignment.RULES.stream()
                .filter(each -> each.startsWith(rule + ":"))
                .findFirst()
                .orElse(rule);
    }

    private static void print(PrintWriter out, DivergencePoint first, String recorded, String actual) {
        DivergencePoint.Agreed agreed = first.lastAgreed();
        if (agreed != null) {
            out.println("last agreed   " + Printable.of(agreed.line()) + "  (" + agreed.actualIndex() + " in " + actual
                    + ")");
        }
        out.println("expected      " + Printable.of(first.expected()));
        out.println("actual        " + Printable.of(first.actual()));
        print(out, "because", first.causes());
        print(out, "around it in " + recorded, first.recordedContext());
        print(out, "around it in " + actual, first.actualContext());
    }

    private static void print(PrintWriter out, String title, List<String> lines) {
        if (!lines.isEmpty()) {
            out.println(title);
            lines.forEach(line -> out.println("  " + Printable.of(line)));
        }
    }
}
