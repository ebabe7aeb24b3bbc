package blackbox.node.alert;

import blackbox.rules.Rule;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/// An alert that is sealed.
///
/// @param index its own
/// @param atNs when it was made, nanoseconds since 1970-01-01 UTC
/// @param count how often the rule had held in the run by then, this time included
/// @param indexes of the events of which the rule held, ascending
public record Alert(RunId run, long index, long atNs, Rule rule, long count, List<Long> indexes) {
    private static final JsonMapper JSON = new JsonMapper();

    public Alert {
        indexes = List.copyOf(indexes);
    }

    /// Names it for ever, and nothing else.
    public String id() {
        return run + ":" + index;
    }

    /// As one object, for those who are told of it: `id`, `run`, `index`, `atNs`, `rule` {id, title, level, sha256},
    /// `count`, `indexes`.
    public String toJson() {
        ObjectNode node = JSON.createObjectNode()
                .put("id", id())
                .put("run", run.toString())
                .put("index", index)
                .put("atNs", atNs);
        Rule.About about = rule.about();
        node.putObject("rule")
                .put("id", about.id())
                .put("title", about.title())
                .put("level", about.level().word())
                .put("sha256", about.sha256());
        node.put("count", count);
        indexes.forEach(node.putArray("indexes")::add);
        return node.toString();
    }
}
