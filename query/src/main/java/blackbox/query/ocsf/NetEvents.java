package blackbox.query.ocsf;

import blackbox.query.calls.Tokens;
import blackbox.query.ocsf.Draft.Severity;
import blackbox.query.ocsf.OcsfClass.Activity;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.NetView;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What went over the network, as OCSF has it. The run's machine is `src_endpoint`, also of what was accepted,
/// for which `connection_info` says inbound.
final class NetEvents {

    private static final Activity OPEN = new Activity(1, "Open");
    private static final Activity CLOSE = new Activity(2, "Close");
    private static final Activity RESET = new Activity(3, "Reset");
    private static final Activity FAIL = new Activity(4, "Fail");
    private static final Activity REFUSE = new Activity(5, "Refuse");
    private static final Activity TRAFFIC = new Activity(6, "Traffic");
    private static final Activity LISTEN = new Activity(7, "Listen");
    private static final Activity QUERY = new Activity(1, "Query");
    private static final Activity RESPONSE = new Activity(2, "Response");

    private static final Map<String, Activity> METHODS = Map.of(
            "CONNECT", new Activity(1, "Connect"),
            "DELETE", new Activity(2, "Delete"),
            "GET", new Activity(3, "Get"),
            "HEAD", new Activity(4, "Head"),
            "OPTIONS", new Activity(5, "Options"),
            "POST", new Activity(6, "Post"),
            "PUT", new Activity(7, "Put"),
            "TRACE", new Activity(8, "Trace"),
            "PATCH", new Activity(9, "Patch"));
    private static final Map<Long, String> DNS_TYPES = Map.of(
            1L, "A", 2L, "NS", 5L, "CNAME", 6L, "SOA", 12L, "PTR", 15L, "MX", 16L, "TXT", 28L, "AAAA", 33L, "SRV", 65L,
            "HTTPS");

    private static final int ALLOWED = 1;
    private static final int DENIED = 2;
    private static final int OBSERVED = 3;
    private static final int BLOCKED = 2;
    private static final int DETECTED = 15;
    private static final int UNKNOWN = 0;
    private static final int INBOUND = 1;
    private static final int LOCAL = 4;
    private static final int OUTBOUND = 2;
    private static final int ASSISTANT = 2;
    private static final long ECONNREFUSED = -111;
    private static final long EINPROGRESS = -115;
    private static final long NS_OF_MS = 1_000_000;
    private static final int PORT_MAX = 65_535;

    private final RunId run;
    private final ProcessObjects processes;

    NetEvents(RunId run, ProcessObjects processes) {
        this.run = run;
        this.processes = processes;
    }

    Draft draft(NetView event) {
        return switch (event) {
            case NetView.Connect connect -> Draft.of(OcsfClass.NETWORK, connected(connect), connection(connect));
            case NetView.Syn syn -> Draft.of(OcsfClass.NETWORK, Activity.other("Send SYN"), connection(syn));
            case NetView.Bind bind -> Draft.of(OcsfClass.NETWORK, Activity.other("Bind"), connection(bind));
            case NetView.Listen listen -> Draft.of(OcsfClass.NETWORK, LISTEN, connection(listen));
            case NetView.Accept accept -> Draft.of(OcsfClass.NETWORK, OPEN, connection(accept));
            case NetView.Send send -> Draft.of(OcsfClass.NETWORK, TRAFFIC, connection(send));
            case NetView.Flow flow -> flow(flow);
            case NetView.Dns dns -> dns(dns);
            case NetView.Decision decision -> decision(decision);
            case NetView.Exchange exchange -> exchange(exchange);
            case NetView.SecretUse use ->
                Draft.of(OcsfClass.NETWORK, Activity.other("Secret: " + use.how()), connection(use));
            case NetView.ModelCall call -> model(call);
            case NetView.ToolUse use -> tool(use);
            case NetView.McpCall call ->
                call(call, Activity.other("MCP Request"), text(call.what(), "mcp"), call.host());
            case NetView.Miss _ -> Draft.of(OcsfClass.NETWORK, FAIL, connection(event));
        };
    }

    /// Whether the call did not wait for the other side: what came of it is in no event of its own.
    static boolean hasOnlyBegun(NetView.Connect event) {
        return event.ret() == EINPROGRESS;
    }

    private static Activity connected(NetView.Connect event) {
        if (hasOnlyBegun(event)) {
            return Activity.other("Begin to Connect");
        }
        if (!event.failed()) {
            return OPEN;
        }
        return event.ret() == ECONNREFUSED ? REFUSE : FAIL;
    }

    private Fields connection(NetView event) {
        return connection(event, event.row().has(Column.HOST) ? event.row().text(Column.HOST) : null);
    }

    /// Whether what it is about is the run's own end.
    static boolean isOfOwnEnd(EventView event) {
        return event instanceof NetView.Accept || event instanceof NetView.Listen || event instanceof NetView.Bind;
    }

    private Fields connection(NetView event, @Nullable Text host) {
        Row row = event.row();
        Fields fields = new Fields();
        if (event.process() != null) {
            fields.put("actor", processes.actor(event));
        }
        Text socket = row.has(Column.PATH) ? row.text(Column.PATH) : null;
        boolean inbound = isOfOwnEnd(event);
        if (inbound) {
            fields.put(
                    "dst_endpoint",
                    endpoint(event.localIp(), event.localPort())
                            .put("uid", run.value())
                            .put("name", socket));
            if (event.remoteIp() != null) {
                fields.put("src_endpoint", endpoint(event.remoteIp(), event.remotePort()));
            }
        } else {
            ends(fields, event, host, socket);
        }
        int direction = event instanceof NetView.Bind ? UNKNOWN : inbound ? INBOUND : OUTBOUND;
        if (event instanceof NetView.Flow) {
            fields.put("is_src_dst_assignment_known", false); // it does not say who began
            direction = UNKNOWN;
        }
        return fields.put(
                "connection_info",
                new Fields()
                        .put("direction_id", isLocal(event) ? LOCAL : direction)
                        .put("protocol_name", event.protocol()));
    }

    private static boolean isLocal(NetView event) {
        Text ip = event.remoteIp();
        return ip != null && IpAddress.isLoopback(ip.toString());
    }

    /// @param socket the path of a Unix socket
    private Fields ends(Fields fields, NetView event, @Nullable Text host, @Nullable Text socket) {
        fields.put("src_endpoint", endpoint(event.localIp(), event.localPort()).put("uid", run.value()));
        if (event.remoteIp() != null || host != null || socket != null) { // one that is a port only is none
            fields.put(
                    "dst_endpoint",
                    endpoint(event.remoteIp(), event.remotePort())
                            .put("hostname", host)
                            .put("name", socket));
        }
        return fields;
    }

    static boolean isPort(long port) {
        return port >= 0 && port <= PORT_MAX;
    }

    static Fields endpoint(@Nullable Text ip, @Nullable Long port) {
        Fields endpoint = new Fields().put("ip", ip);
        return port == null || !isPort(port) ? endpoint : endpoint.put("port", port);
    }

    private Draft flow(NetView.Flow event) {
        Activity activity = switch (String.valueOf(event.ending())) {
            case "open" -> OPEN;
            case "closed" -> CLOSE;
            case "reset" -> RESET;
            default -> TRAFFIC;
        };
        Row row = event.row();
        Fields traffic = new Fields().put("bytes_out", event.bytesOut()).put("bytes_in", event.bytesIn());
        if (row.has(Column.PACKETS_OUT)) {
            traffic.put("packets_out", (Long) row.number(Column.PACKETS_OUT));
        }
        if (row.has(Column.PACKETS_IN)) {
            traffic.put("packets_in", (Long) row.number(Column.PACKETS_IN));
        }
        return Draft.of(OcsfClass.NETWORK, activity, connection(event).put("traffic", traffic));
    }

    private Draft dns(NetView.Dns event) {
        Long type = event.type();
        String name = type == null ? null : DNS_TYPES.getOrDefault(type, "TYPE" + type);
        ArrayNode answers = JsonNodeFactory.instance.arrayNode();
        event.answers()
                .forEach(each -> answers.add(new Fields().put("rdata", each).node()));
        Fields fields = connection(event, null)
                .put(
                        "query",
                        new Fields().put("hostname", text(event.name(), "")).put("type", name));
        if (!answers.isEmpty()) {
            fields.put("answers", answers);
        }
        return Draft.of(OcsfClass.DNS, answers.isEmpty() ? QUERY : RESPONSE, fields);
    }

    /// The gateway's decision, in the terms of OCSF's profile `security_control`.
    private Draft decision(NetView.Decision event) {
        String verdict = text(event.verdict(), "");
        boolean allowed = verdict.equals("allow");
        boolean observed = verdict.equals("would-deny");
        JsonNode detail = RunFacts.detailOf(event.row());
        Fields fields = connection(event)
                .put("action_id", allowed ? ALLOWED : observed ? OBSERVED : DENIED)
                .put("disposition_id", allowed ? ALLOWED : observed ? DETECTED : BLOCKED)
                .put("message", detail.path("reason").textValue())
                .put(
                        "firewall_rule",
                        new Fields()
                                .put("uid", detail.path("rule").textValue())
                                .put("category", detail.path("stage").textValue()));
        if (detail.path("rule").textValue() == null) {
            fields.node().remove("firewall_rule");
        }
        Draft draft = Draft.of(
                OcsfClass.NETWORK, allowed || observed ? Activity.other("Decide: " + verdict) : REFUSE, fields);
        return allowed ? draft : draft.with(Severity.LOW);
    }

    private Draft exchange(NetView.Exchange event) {
        JsonNode detail = RunFacts.detailOf(event.row());
        String method = detail.path("method").asText();
        String target = detail.path("target").asText();
        int query = target.indexOf('?');
        Fields request = new Fields()
                .put("http_method", METHODS.containsKey(method) ? method : null)
                .putInt("body_length", event.bytesOut())
                .put("version", detail.path("protocol").textValue())
                .put(
                        "url",
                        new Fields()
                                .put("scheme", detail.path("scheme").textValue())
                                .put("hostname", event.host())
                                .put("path", query < 0 ? target : target.substring(0, query))
                                .put("query_string", query < 0 ? null : target.substring(query + 1)));
        Fields fields = connection(event).put("http_request", request);
        int status =
                detail.path("status").canConvertToInt() ? detail.path("status").intValue() : 0;
        if (status > 0) {
            fields.put("http_status", status)
                    .put(
                            "http_response",
                            new Fields()
                                    .put("code", status)
                                    .putInt("body_length", event.bytesIn())
                                    .putInt("latency", millis(detail.path("firstNs"))));
        }
        fields.put("duration", millis(detail.path("durationNs")));
        String ending = text(event.ending(), "");
        boolean refused = ending.equals("refused") || ending.equals("cut"); // by the gateway
        fields.put("action_id", refused ? DENIED : ALLOWED).put("disposition_id", refused ? BLOCKED : ALLOWED);
        Draft draft = Draft.of(OcsfClass.HTTP, METHODS.getOrDefault(method, Activity.other(method)), fields);
        return refused ? draft.with(Severity.LOW) : draft;
    }

    static @Nullable Long millis(JsonNode ns) {
        return ns.isIntegralNumber() && ns.canConvertToLong() ? (Long) (ns.longValue() / NS_OF_MS) : null;
    }

    private Draft model(NetView.ModelCall event) {
        JsonNode detail = RunFacts.detailOf(event.row());
        Draft draft = call(event, new Activity(1, "Create"), text(event.what(), "model"), event.host());
        String model =
                detail.path("responseModel").asText(detail.path("requestModel").asText(""));
        String provider = detail.path("provider").asText("");
        if (!model.isEmpty() && !provider.isEmpty()) {
            draft.fields().put("ai_model", new Fields().put("name", model).put("ai_provider", provider));
        }
        Tokens tokens = Tokens.of(detail);
        if (tokens.input() != null || tokens.output() != null) {
            draft.fields()
                    .put(
                            "message_context",
                            new Fields()
                                    .put("ai_role_id", ASSISTANT)
                                    .putInt("prompt_tokens", tokens.input())
                                    .putInt("completion_tokens", tokens.output())
                                    .put("service", new Fields().put("name", text(event.what(), "model"))));
        }
        return draft;
    }

    /// The model asked for it; whether anybody did it is not said here.
    private Draft tool(NetView.ToolUse event) {
        String name = text(event.what(), "tool");
        return Draft.of(
                OcsfClass.API,
                Activity.other("Model Asks for Tool"),
                new Fields()
                        .put("message", "a model asked the agent to use the tool " + name)
                        .put("actor", new Fields().put("app_name", "model").put("app_uid", text(event.host(), "")))
                        .put("api", new Fields().put("operation", name))
                        .put(
                                "src_endpoint",
                                endpoint(event.remoteIp(), event.remotePort())
                                        .put("hostname", event.host())
                                        .put("name", "model")));
    }

    private Draft call(NetView event, Activity activity, String operation, @Nullable Text host) {
        Fields fields = new Fields()
                .put("actor", processes.actor(event))
                .put("api", new Fields().put("operation", operation).put("service", new Fields().put("name", host)));
        return Draft.of(OcsfClass.API, activity, ends(fields, event, host, null));
    }

    private static String text(@Nullable Text text, String otherwise) {
        return text == null ? otherwise : text.toString();
    }
}
