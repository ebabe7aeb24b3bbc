package blackbox.query.ocsf;

import blackbox.query.ocsf.OcsfClass.Activity;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.RunView;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/// Requests to a service and its answers, of its own record of them, as OCSF has them: one event for each row,
/// with the same `api.request.uid` for what is about the same request. Owned by one thread.
final class AccessEvents {

    private static final Map<String, Activity> METHODS = Map.of(
            "GET", new Activity(2, "Read"),
            "HEAD", new Activity(2, "Read"),
            "PUT", new Activity(3, "Update"),
            "DELETE", new Activity(4, "Delete"));

    /// Of so many requests it is remembered at a time what they asked.
    private static final int OPEN_MAX = 10_000;

    /// No route of ours is nearly as long; a record that was imported may have any.
    private static final int ASKED_CHARS_MAX = 300;

    private static final int UNKNOWN = 0;
    private static final int SUCCESS = 1;
    private static final int FAILURE = 2;
    private static final int STATUS_MIN = 100;
    private static final int STATUS_MAX = 599;
    private static final int REFUSED_FROM = 400;
    private static final String WHOLE = "complete";

    private final RunId run;
    private final SequencedMap<Long, Asked> open = new LinkedHashMap<>();

    AccessEvents(RunId run) {
        this.run = run;
    }

    /// What was asked, about which run, and with which token.
    private record Asked(
            String operation,
            @Nullable String about,
            @Nullable String token) {
        private static final Asked NOT_KNOWN = new Asked("", null, null);

        /// Whether it is a request, and not more about one, which is a word.
        boolean isRequest() {
            return operation.indexOf(' ') >= 0;
        }

        boolean isShort() {
            return length(operation) + length(about) + length(token) <= ASKED_CHARS_MAX;
        }

        private static int length(@Nullable String text) {
            return text == null ? 0 : text.length();
        }

        Asked about(Asked more) {
            return new Asked(operation, more.about == null ? about : more.about, token);
        }

        /// What a request does by its method; of POST only its route says it.
        Activity activity() {
            String method = operation.split(" ", 2)[0];
            return METHODS.getOrDefault(method, Activity.other(method.isEmpty() ? "unknown" : method));
        }
    }

    Draft draft(RunView.Access event, String kind) {
        return switch (event) {
            case RunView.Request request -> request(request);
            case RunView.Answer answer -> answer(answer);
            case RunView.Grants _ -> Draft.base(kind);
        };
    }

    private Draft request(RunView.Request event) {
        JsonNode detail = RunFacts.detailOf(event.row());
        Row row = event.row();
        var asked = new Asked(
                row.has(Column.WHAT) ? row.text(Column.WHAT).toString() : "",
                detail.path("run").textValue(),
                detail.path("token").textValue());
        remember(number(detail), asked);
        Fields fields = fields(event, asked, detail, new Fields());
        Integer refused = status(detail.path("refused"));
        if (refused != null) {
            fields.put("status_id", FAILURE).put("status_code", refused.toString());
        }
        JsonNode count = detail.path("count"); // of those that were refused, beyond the first of a minute
        if (count.isIntegralNumber() && count.canConvertToInt()) {
            fields.put("status_id", FAILURE).put("count", count.intValue());
        }
        return Draft.of(OcsfClass.API, asked.activity(), fields);
    }

    /// What is too long is forgotten, and so is what it would have replaced.
    private void remember(@Nullable Long number, Asked asked) {
        if (number == null) {
            return;
        }
        Asked before = open.remove(number);
        Asked now = asked.isRequest() || before == null ? asked : before.about(asked);
        if (now.isShort()) {
            open.put(number, now);
        }
        if (open.size() > OPEN_MAX) {
            open.pollFirstEntry();
        }
    }

    private Draft answer(RunView.Answer event) {
        JsonNode detail = RunFacts.detailOf(event.row());
        Long number = number(detail);
        Asked known = number == null ? null : open.remove(number);
        Asked asked = known == null ? Asked.NOT_KNOWN : known;
        Integer status = status(detail.path("status")); // 0 if whoever asked had gone
        Fields response = new Fields();
        if (status != null) {
            response.put("code", (int) status);
        }
        Row row = event.row();
        boolean isWhole =
                row.has(Column.WHAT) && row.text(Column.WHAT).toString().equals(WHOLE);
        int outcome = status == null ? UNKNOWN : status >= REFUSED_FROM ? FAILURE : isWhole ? SUCCESS : UNKNOWN;
        Fields fields = fields(event, asked, detail, response)
                .put("status_id", outcome)
                .put("status_code", status == null ? null : status.toString())
                .put("duration", NetEvents.millis(detail.path("tookNs")));
        return Draft.of(OcsfClass.API, asked.activity(), fields);
    }

    /// A status of HTTP; null if it is none.
    private static @Nullable Integer status(JsonNode number) {
        boolean is = number.isIntegralNumber() && number.canConvertToInt();
        return is && number.intValue() >= STATUS_MIN && number.intValue() <= STATUS_MAX
                ? (Integer) number.intValue()
                : null;
    }

    private static @Nullable Long number(JsonNode detail) {
        JsonNode number = detail.path("number");
        return number.isIntegralNumber() && number.canConvertToLong() ? (Long) number.longValue() : null;
    }

    private Fields fields(RunView.Access event, Asked asked, JsonNode detail, Fields response) {
        Row row = event.row();
        Text subject = event.subject();
        Fields user = new Fields().put("name", subject).put("credential_uid", asked.token);
        Text ip = row.has(Column.REMOTE_IP) ? row.text(Column.REMOTE_IP) : null;
        Long port = row.has(Column.REMOTE_PORT) ? (Long) row.number(Column.REMOTE_PORT) : null;
        Long number = number(detail);
        Fields fields = new Fields()
                .put(
                        "actor",
                        subject == null
                                ? new Fields().put("app_name", "not recognised")
                                : new Fields().put("user", user))
                .put(
                        "src_endpoint",
                        ip == null ? new Fields().put("name", "not recorded") : NetEvents.endpoint(ip, port))
                .put("dst_endpoint", new Fields().put("svc_name", "blackbox").put("uid", run.value()))
                .put(
                        "api",
                        new Fields()
                                .put("operation", asked.operation.isEmpty() ? "not recorded" : asked.operation)
                                .put("request", number == null ? null : new Fields().put("uid", number.toString()))
                                .put("response", response));
        if (asked.about != null) {
            fields.put(
                    "resources",
                    JsonNodeFactory.instance
                            .arrayNode()
                            .add(new Fields()
                                    .put("type", "run")
                                    .put("uid", asked.about)
                                    .node()));
        }
        return fields;
    }
}
