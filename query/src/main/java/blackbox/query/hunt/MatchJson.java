package blackbox.query.hunt;

import blackbox.rules.Match;
import blackbox.rules.Rule;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;

/// What a hunt found, in JSON.
public final class MatchJson {
    private MatchJson() {}

    /// Writes a match as an object: `run`, `index`, `atNs` (nanoseconds since the epoch), `rule`, and the
    /// `indexes` of all events that it is about.
    public static void write(JsonGenerator out, RunId run, Match match) throws IOException {
        out.writeStartObject();
        out.writeStringField("run", run.toString());
        out.writeNumberField("index", match.index());
        out.writeNumberField("atNs", match.atNs());
        out.writeObjectFieldStart("rule");
        rule(out, match.rule());
        out.writeEndObject();
        out.writeArrayFieldStart("indexes");
        for (Long index : match.indexes()) {
            out.writeNumber(index);
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    /// The fields that name a rule.
    public static void rule(JsonGenerator out, Rule rule) throws IOException {
        out.writeStringField("id", rule.about().id());
        out.writeStringField("title", rule.about().title());
        out.writeStringField("level", rule.about().level().word());
        out.writeStringField("sha256", rule.about().sha256());
    }
}
