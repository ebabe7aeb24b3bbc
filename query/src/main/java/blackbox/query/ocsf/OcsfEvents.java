package blackbox.query.ocsf;

import blackbox.evidence.text.Timestamps;
import blackbox.query.answer.EventJson;
import blackbox.query.answer.Programs;
import blackbox.query.ocsf.Draft.Severity;
import blackbox.query.ocsf.OcsfClass.Activity;
import blackbox.query.run.RunFacts;
import blackbox.schemas.Release;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.ColumnType;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Makes an event of OCSF of each event: what all of them have. Owned by one thread.
final class OcsfEvents {

    /// Refuses what it could not give back: a name twice, more behind the end, and levels that are more than a
    /// writer takes of an event.
    private static final ObjectMapper EXACT = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(
                            StreamReadConstraints.builder().maxNestingDepth(900).build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS, DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    private static final Pattern SURROGATE = Pattern.compile("\\\\u[dD][89a-fA-F]");

    static final String VERSION = "1.8.0";
    private static final String LIMITS = "run.limits";
    private static final int SUCCESS = 1;
    private static final int FAILURE = 2;
    private static final int VIRTUAL = 6;
    private static final long NS_OF_MS = 1_000_000;

    private static final Set<Column> OF_ALL = EnumSet.of(Column.KIND, Column.AT_NS, Column.SOURCE);
    private static final Set<Column> OF_PROCESSES = EnumSet.of(
            Column.PID,
            Column.TID,
            Column.PPID,
            Column.START_NS,
            Column.PARENT_START_NS,
            Column.COMM,
            Column.UID,
            Column.CONTAINER);
    private static final Set<OcsfClass> NAME_PROCESSES =
            EnumSet.of(OcsfClass.PROCESS, OcsfClass.FILE, OcsfClass.NETWORK, OcsfClass.HTTP, OcsfClass.DNS);
    private static final Set<Column> OF_ENDS = EnumSet.of(
            Column.LOCAL_IP, Column.LOCAL_PORT, Column.REMOTE_IP, Column.REMOTE_PORT, Column.HOST, Column.PROTOCOL);

    private final RunId run;
    private final ProcessObjects processes;
    private final NetEvents net;
    private final HostEvents host;

    /// @param programs what processes run, as of before the event
    OcsfEvents(RunId run, Programs programs) {
        this.run = run;
        processes = new ProcessObjects(run, programs);
        net = new NetEvents(run, processes);
        host = new HostEvents(run);
    }

    /// The event.
    ObjectNode of(EventView event, long index) {
        Draft draft = draft(event, index);
        Fields fields = head(draft, event.atNs(), kind(event), Long.toString(index));
        if (event.row().has(Column.RET) && hasResult(event)) {
            fields.put("status_id", event.failed() ? FAILURE : SUCCESS);
            if (event.failed()) {
                fields.put("status_code", Long.toString(-event.ret()));
            }
        }
        fields.put("unmapped", unmapped(event.row(), mapped(event, draft)));
        ObjectNode node = fields.node();
        node.setAll(draft.fields().node());
        ObjectNode metadata = (ObjectNode) node.get("metadata");
        metadata.put("log_provider", event.isByHost() ? "host" : "guest");
        if (!event.truncated().isEmpty()) {
            metadata.put("is_truncated", true);
        }
        profiles(node).forEach(metadata.putArray("profiles")::add);
        return node;
    }

    /// A connection that has only begun has none yet.
    private static boolean hasResult(EventView event) {
        return !(event instanceof NetView.Syn)
                && !(event instanceof NetView.Connect connect && NetEvents.hasOnlyBegun(connect));
    }

    /// The profiles of OCSF whose attributes it has.
    private static List<String> profiles(ObjectNode event) {
        var profiles = new ArrayList<String>(List.of("host"));
        if (event.has("action_id")) {
            profiles.add("security_control");
        }
        if (event.has("ai_model") || event.has("message_context")) {
            profiles.add("ai_operation");
        }
        if (event.path("process").has("container")
                || event.path("actor").path("process").has("container")) {
            profiles.add("container");
        }
        return profiles;
    }

    /// The columns that are in attributes, whole: all others are in `unmapped`. An argument may have spaces, so
    /// `argv` is there, too.
    private static Set<Column> mapped(EventView event, Draft draft) {
        Set<Column> mapped = EnumSet.copyOf(OF_ALL);
        if (draft.of() == OcsfClass.BASE) {
            return mapped;
        }
        if (event.process() != null && NAME_PROCESSES.contains(draft.of()) && !(event instanceof ProcessView.Signal)) {
            mapped.addAll(OF_PROCESSES);
        }
        switch (event) {
            case ProcessView.Exec _ -> mapped.addAll(EnumSet.of(Column.EXE, Column.CWD));
            case ProcessView.Running _ -> mapped.add(Column.EXE);
            case ProcessView.Exit _ -> mapped.add(Column.EXIT_CODE);
            case FileView.ToName _ -> {} // one of the two names may be in no attribute
            case FileView _ -> mapped.add(Column.PATH);
            case NetView.Flow _, NetView.Call _, NetView.Decision _, NetView.Exchange _, NetView.SecretUse _ -> {
                mapped.addAll(OF_ENDS);
                if (NetEvents.isOfOwnEnd(event)) {
                    mapped.remove(Column.HOST);
                }
                for (Column port : List.of(Column.LOCAL_PORT, Column.REMOTE_PORT)) {
                    boolean ofAnEnd = port == Column.LOCAL_PORT || event.row().has(Column.REMOTE_IP);
                    if (!ofAnEnd
                            || event.row().has(port)
                                    && !NetEvents.isPort(event.row().number(port))) {
                        mapped.remove(port);
                    }
                }
            }
            default -> {}
        }
        return mapped;
    }

    /// The last line: what the run's record may have missed.
    ObjectNode limits(long atNs, RunFacts facts, List<String> limits) {
        ArrayNode sentences = JsonNodeFactory.instance.arrayNode();
        limits.forEach(sentences::add);
        Fields fields = head(Draft.base(LIMITS).with(Severity.MEDIUM), atNs, LIMITS, "limits")
                .put("message", limits.isEmpty() ? "the record says of nothing that it is missing" : limits.getFirst())
                .put(
                        "unmapped",
                        new Fields()
                                .put("state", facts.state().name())
                                .put("events", facts.events())
                                .put("limits", sentences));
        ObjectNode node = fields.node();
        ((ObjectNode) node.get("metadata")).putArray("profiles").add("host");
        return node;
    }

    private Fields head(Draft draft, long atNs, String code, String id) {
        OcsfClass of = draft.of();
        Activity activity = draft.activity();
        return new Fields()
                .put("time", Math.floorDiv(atNs, NS_OF_MS))
                .put("class_uid", of.uid())
                .put("class_name", of.caption())
                .put("category_uid", of.category())
                .put("activity_id", activity.id())
                .put("activity_name", activity.name())
                .put("type_uid", of.type(activity))
                .put("severity_id", draft.severity().id())
                .put(
                        "metadata",
                        new Fields()
                                .put("version", VERSION)
                                .put("uid", run.value() + ":" + id)
                                .put("event_code", code)
                                .put("log_name", run.value())
                                .put("original_time", Timestamps.format(atNs))
                                .put(
                                        "product",
                                        new Fields()
                                                .put("name", "Blackbox")
                                                .put("vendor_name", "Blackbox")
                                                .put("version", Release.VERSION)))
                .put("device", new Fields().put("type_id", VIRTUAL).put("uid", run.value()));
    }

    private static String kind(EventView event) {
        return event.row().has(Column.KIND) ? EventJson.name(event.row(), Column.KIND) : "unknown";
    }

    private Draft draft(EventView event, long index) {
        return switch (event) {
            case ProcessView process -> event.process() == null ? Draft.base(kind(event)) : processes.draft(process);
            case FileView file -> event.process() == null ? Draft.base(kind(event)) : FileEvents.draft(file, processes);
            case NetView other -> net.draft(other);
            case PrivilegeView use -> event.process() == null ? Draft.base(kind(event)) : processes.draft(use);
            case RecorderView said -> host.draft(said, kind(event), index);
            case VmView vm -> host.draft(vm, kind(event), index);
            case RunView itself -> host.draft(itself, kind(event));
            case EventView.Unknown _ -> Draft.base(kind(event));
        };
    }

    private static Fields unmapped(Row row, Set<Column> mapped) {
        var rest = new Fields();
        for (Column column : Column.values()) {
            if (row.has(column) && !mapped.contains(column)) {
                put(rest, row, column);
            }
            if (row.has(column)
                    && column.type() == ColumnType.STRING
                    && !row.text(column).isUtf8()) {
                rest.put(
                        column.columnName() + "_bytes",
                        Base64.getEncoder().encodeToString(row.text(column).toBytes()));
            }
        }
        return rest;
    }

    /// The JSON of a text; null if it is none, or if written again it would say less or something else.
    private static @Nullable JsonNode exactly(String text) {
        if (SURROGATE.matcher(text).find()) {
            return null; // half of a pair cannot be written
        }
        try {
            JsonNode read = EXACT.readTree(text);
            return read.isMissingNode() || read.isNull() ? null : read;
        } catch (JsonProcessingException e) {
            return null;
        }
    }

    private static void put(Fields rest, Row row, Column column) {
        String name = column.columnName();
        switch (column.type()) {
            case INT, LONG -> rest.put(name, (Long) row.number(column));
            case BYTES -> rest.put(name, EventJson.hex(row, column));
            case STRING -> {
                JsonNode detail =
                        column == Column.DETAIL ? exactly(row.text(column).toString()) : null;
                if (detail == null) {
                    rest.put(name, row.text(column));
                } else {
                    rest.put(name, detail);
                }
            }
            case STRING_LIST -> {
                ArrayNode texts = JsonNodeFactory.instance.arrayNode();
                row.list(column).stream().map(Text::toString).forEach(texts::add);
                rest.put(name, texts);
            }
        }
    }
}
