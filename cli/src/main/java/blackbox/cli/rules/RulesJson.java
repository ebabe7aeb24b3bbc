package blackbox.cli.rules;

import blackbox.node.alert.RuleFiles.Refused;
import blackbox.query.hunt.MatchJson;
import blackbox.rules.Rule;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;

/// Rules in JSON.
final class RulesJson {
    private RulesJson() {}

    static void rules(JsonGenerator out, String name, List<Rule> rules) throws IOException {
        out.writeArrayFieldStart(name);
        for (Rule rule : rules) {
            out.writeStartObject();
            MatchJson.rule(out, rule);
            out.writeStringField("about", about(rule));
            out.writeStringField("description", rule.about().description());
            out.writeArrayFieldStart("tags");
            for (String tag : rule.about().tags()) {
                out.writeString(tag);
            }
            out.writeEndArray();
            out.writeStringField("file", rule.about().file());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    /// What it is about, in a word.
    static String about(Rule rule) {
        return switch (rule) {
            case Rule.OfEvents of -> of.category().word();
            case Rule.OverRules _ -> "correlation";
        };
    }

    static void refused(JsonGenerator out, String name, List<Refused> refused) throws IOException {
        out.writeArrayFieldStart(name);
        for (Refused each : refused) {
            out.writeStartObject();
            out.writeStringField("file", each.file());
            out.writeStringField("why", each.why());
            out.writeEndObject();
        }
        out.writeEndArray();
    }
}
