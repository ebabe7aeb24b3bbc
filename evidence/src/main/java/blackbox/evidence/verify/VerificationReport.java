package blackbox.evidence.verify;

import blackbox.evidence.anchor.AnchoredRange;
import blackbox.evidence.text.Printable;
import blackbox.evidence.text.Timestamps;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.PrintWriter;

/// A [Verification] in the form of the command-line contract: as JSON, and as text for people.
public final class VerificationReport {

    private VerificationReport() {}

    /// Writes one object.
    public static void write(JsonGenerator out, Verification verification) throws IOException {
        out.writeStartObject();
        writeFields(out, verification);
        out.writeEndObject();
    }

    /// Writes the fields into an object that may have others.
    public static void writeFields(JsonGenerator out, Verification verification) throws IOException {
        out.writeStringField("integrity", verification.integrity().name());
        out.writeStringField("completeness", verification.completeness().name());
        Losses.writeUnknownFrom(out, verification.unknownFrom());
        out.writeStringField("time", verification.time().name());
        out.writeObjectFieldStart("authorship");
        out.writeArrayFieldStart("keys");
        for (String key : verification.authorship().keys()) {
            out.writeString(key);
        }
        out.writeEndArray();
        out.writeBooleanField("trusted", verification.authorship().trusted());
        out.writeEndObject();
        out.writeNumberField("events", verification.events());
        out.writeNumberField("checkpoints", verification.checkpoints());
        out.writeArrayFieldStart("anchors");
        for (AnchoredRange range : verification.anchors()) {
            out.writeStartObject();
            out.writeNumberField("throughIndex", range.throughIndex());
            out.writeStringField("notLaterThan", Timestamps.format(range.notLaterThan()));
            out.writeArrayFieldStart("by");
            for (String each : range.by()) {
                out.writeString(each);
            }
            out.writeEndArray();
            out.writeStringField("kind", range.kind().label());
            out.writeEndObject();
        }
        out.writeEndArray();
        ControlFacts control = verification.control();
        if (control != null) {
            out.writeFieldName("control");
            control.write(out);
        }
        out.writeArrayFieldStart("findings");
        for (Verification.Finding finding : verification.findings()) {
            out.writeStartObject();
            if (finding.index() < 0) {
                out.writeNullField("index");
            } else {
                out.writeNumberField("index", finding.index());
            }
            out.writeStringField("what", finding.what());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    /// The word, and where the run is not known to be complete, from where on.
    public static String completeness(Verification verification) {
        return verification.completeness() == Verification.Completeness.UNKNOWN
                ? "UNKNOWN  (from event " + verification.unknownFrom()
                        + " on, events may be missing that nothing counts)"
                : verification.completeness().name();
    }

    /// Prints the four answers and the findings.
    public static void print(PrintWriter out, Verification verification) {
        print(out, verification, completeness(verification));
    }

    /// The same, with the completeness in other words.
    public static void print(PrintWriter out, Verification verification, String completeness) {
        out.println("integrity     " + verification.integrity() + "  (" + verification.events() + " events under "
                + verification.checkpoints() + " checkpoints)");
        out.println("completeness  " + completeness);
        out.println("time          " + verification.time());
        for (AnchoredRange range : verification.anchors()) {
            out.println("              events up to " + range.throughIndex() + " existed at "
                    + Timestamps.format(range.notLaterThan()) + ", says "
                    + Printable.of(String.join(", ", range.by())) + " ("
                    + range.kind().label() + ")");
        }
        out.println("authorship    " + (verification.authorship().trusted() ? "trusted" : "not trusted") + "  "
                + Printable.of(String.join(", ", verification.authorship().keys())));
        ControlFacts control = verification.control();
        if (control != null) {
            control.print(out);
        }
        for (Verification.Finding finding : verification.findings()) {
            out.println("  - " + (finding.index() < 0 ? "" : "event " + finding.index() + ": ")
                    + Printable.of(finding.what()));
        }
    }
}
