package blackbox.query.why;

import blackbox.evidence.text.Timestamps;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// [Why] as a JSON object.
public final class WhyJson {

    private WhyJson() {}

    /// Writes the object.
    public static void write(JsonGenerator out, Why why) throws IOException {
        out.writeStartObject();
        out.writeStringField("run", why.run().value());
        out.writeNumberField("index", why.index());
        grade(out, why.grade());
        out.writeStringField("answer", why.answer());
        out.writeArrayFieldStart("chain");
        for (Step step : why.chain()) {
            write(out, step);
        }
        out.writeEndArray();
        out.writeArrayFieldStart("candidates");
        for (Why.Candidate each : why.candidates()) {
            out.writeStartObject();
            out.writeNumberField("index", each.index());
            out.writeStringField("id", each.id());
            out.writeStringField("name", each.name());
            grade(out, each.grade());
            out.writeStringField("what", each.what());
            out.writeEndObject();
        }
        out.writeEndArray();
        texts(out, "limits", why.limits());
        out.writeEndObject();
    }

    private static void write(JsonGenerator out, Step step) throws IOException {
        out.writeStartObject();
        out.writeStringField("role", step.role().word());
        out.writeStringField("kind", step.event().kind());
        out.writeNumberField("index", step.event().index());
        out.writeStringField("at", Timestamps.format(step.event().atNs()));
        out.writeStringField("what", step.what());
        if (step.process() != null) {
            out.writeNumberField("pid", step.process());
        }
        if (step.id() != null) {
            out.writeStringField("id", step.id());
        }
        if (step.name() != null) {
            out.writeStringField("name", step.name());
        }
        out.writeEndObject();
    }

    static void grade(JsonGenerator out, @Nullable Grade grade) throws IOException {
        out.writeStringField("grade", grade == null ? null : grade.name());
    }

    /// Writes a list as a field.
    public static void texts(JsonGenerator out, String name, List<String> texts) throws IOException {
        out.writeArrayFieldStart(name);
        for (String text : texts) {
            out.writeString(text);
        }
        out.writeEndArray();
    }
}
