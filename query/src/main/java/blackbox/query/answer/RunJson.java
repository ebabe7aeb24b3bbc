package blackbox.query.answer;

import blackbox.evidence.store.LeftOut;
import blackbox.evidence.text.Timestamps;
import blackbox.evidence.verify.Losses;
import blackbox.query.run.CountedRun;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunOpening;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// [RunFacts] and the run's losses as a JSON object in the form of the command-line contract.
public final class RunJson {

    private RunJson() {}

    /// Writes one run as one object.
    public static void write(JsonGenerator out, CountedRun run) throws IOException {
        out.writeStartObject();
        fields(out, run.facts(), run.losses());
        out.writeEndObject();
    }

    /// Writes the fields of one run into an object that the caller started.
    static void fields(JsonGenerator out, RunFacts facts, Losses losses) throws IOException {
        RunFacts.Start start = facts.start();
        RunFacts.End end = facts.end();
        RunOpening.Summary summary = facts.summary();
        out.writeStringField("run", facts.run().value());
        out.writeStringField("name", facts.name());
        out.writeStringField("startedAt", start == null ? null : Timestamps.format(start.atNs()));
        out.writeStringField("endedAt", end == null ? null : Timestamps.format(end.atNs()));
        out.writeStringField("state", facts.state().name());
        out.writeStringField("tier", summary.tier());
        out.writeObjectFieldStart("image");
        out.writeStringField("name", summary.imageName());
        out.writeStringField("digest", summary.imageDigest());
        out.writeEndObject();
        if (facts.service() != null) {
            out.writeStringField("service", facts.service());
        }
        out.writeNumberField("events", facts.events());
        losses.writeFields(out);
        number(out, "exitCode", end == null ? null : end.exitCode());
        number(out, "signal", end == null ? null : end.signal());
        RunFacts.Imported imported = facts.imported();
        if (imported != null) {
            out.writeObjectFieldStart("imported");
            out.writeBooleanField("trusted", imported.trusted());
            out.writeEndObject();
        }
        if (facts.fault() != null) {
            out.writeStringField("fault", facts.fault());
        }
        if (!facts.leftOut().isEmpty()) {
            leftOut(out, facts.leftOut());
        }
    }

    /// Writes the field `leftOut`.
    public static void leftOut(JsonGenerator out, List<LeftOut> leftOut) throws IOException {
        out.writeArrayFieldStart("leftOut");
        for (LeftOut each : leftOut) {
            out.writeStartObject();
            out.writeStringField("run", each.run().value());
            out.writeStringField("file", each.file());
            out.writeStringField("why", each.why());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private static void number(JsonGenerator out, String field, @Nullable Integer number) throws IOException {
        if (number == null) {
            out.writeNullField(field);
        } else {
            out.writeNumberField(field, number);
        }
    }
}
