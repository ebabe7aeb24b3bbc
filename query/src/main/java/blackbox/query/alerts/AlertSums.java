package blackbox.query.alerts;

import blackbox.evidence.text.Printable;
import blackbox.query.run.RunFacts;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The rules of which a run has alerts, and by how many rules it was watched. Owned by one thread.
public final class AlertSums {
    private static final int RULES_MAX = 10_000;

    private final Map<String, OfRule> rules = new LinkedHashMap<>();
    private long watchedBy;
    private long leftOut;

    /// @param rule its id
    /// @param count how often it held, as far as the record says
    /// @param index of its first alert
    public record OfRule(String rule, String title, String level, long count, long index) {}

    /// What the run says of its rules.
    ///
    /// @param watchedBy how many rules it was watched by
    /// @param leftOut how many were given, and could not be used
    /// @param rules those that held, in the order in which they first did
    public record Alerts(long watchedBy, long leftOut, List<OfRule> rules) {
        public Alerts {
            rules = List.copyOf(rules);
        }

        /// Writes the object: {watchedBy, leftOut, rules: [{rule, title, level, count, index}]}.
        public void write(JsonGenerator out) throws IOException {
            out.writeStartObject();
            out.writeNumberField("watchedBy", watchedBy);
            out.writeNumberField("leftOut", leftOut);
            out.writeArrayFieldStart("rules");
            for (OfRule each : rules) {
                out.writeStartObject();
                out.writeStringField("rule", each.rule());
                out.writeStringField("title", each.title());
                out.writeStringField("level", each.level());
                out.writeNumberField("count", each.count());
                out.writeNumberField("index", each.index());
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeEndObject();
        }

        /// Prints a line for each rule that held.
        public void print(PrintWriter out) {
            if (watchedBy > 0) {
                out.println("watched by    " + watchedBy + " rules" + (rules.isEmpty() ? ", none of which held" : ""));
            }
            for (OfRule each : rules) {
                out.println("alert         " + Printable.of(each.level() + "  " + each.title()) + "  ("
                        + (each.count() == 1 ? "" : each.count() + " times, ") + "event " + each.index() + ")");
            }
        }
    }

    /// Takes the run's next row, of which kind, `what` and `detail` are looked at.
    public void see(long index, Row row) {
        long kind = row.has(Column.KIND) ? row.number(Column.KIND) : 0;
        if (kind == Kind.RECORDER_RULES.code()) {
            JsonNode detail = RunFacts.detailOf(row);
            watchedBy = Math.max(watchedBy, detail.path("rules").asLong());
            leftOut = Math.max(leftOut, detail.path("leftOut").asLong());
        }
        if (kind != Kind.RECORDER_ALERT.code() || !row.has(Column.WHAT)) {
            return;
        }
        JsonNode detail = RunFacts.detailOf(row);
        String rule = row.text(Column.WHAT).toString();
        OfRule known = rules.get(rule);
        if (known != null || rules.size() < RULES_MAX) {
            rules.put(
                    rule,
                    new OfRule(
                            rule,
                            detail.path("title").asText(rule),
                            detail.path("level").asText(),
                            detail.path("count").asLong(),
                            known == null ? index : known.index()));
        }
    }

    public Alerts alerts() {
        return new Alerts(watchedBy, leftOut, List.copyOf(rules.values()));
    }
}
