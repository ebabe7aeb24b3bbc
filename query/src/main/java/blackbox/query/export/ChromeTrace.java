package blackbox.query.export;

import blackbox.evidence.text.Timestamps;
import blackbox.query.answer.Programs;
import blackbox.query.run.RunFacts;
import blackbox.schemas.Release;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.Writer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A run in the Trace Event Format of Chrome, which Perfetto's user interface and speedscope open: a process of
/// the guest is a process, a slice the time for which it ran a program; what it did is an instant on it. What
/// the host saw is process 0: connections, requests, calls of models, and what the recorder reported. Times are
/// microseconds from the first event on, which `otherData.startedAt` has; whatever happens has its event's index.
/// Process -1 is what the guest told of no process. What has no end in the record ends with the last event of the
/// host's, and says so.
///
/// A slice has a name and nothing else, since speedscope takes slices with other arguments for other functions: its
/// index and the program's arguments are those of an instant where it begins.
///
/// Left out are heartbeats, segments of captured files, probes of the stop, the policy, and what the hypervisor
/// and the run's open and close say.
public final class ChromeTrace implements EventExport {

    private static final double NS_OF_MICRO = 1000;
    private static final int ARGUMENTS_MAX = 32;
    private static final int TEXT_CHARS_MAX = 512;
    private static final int HOST = 0;
    private static final int NOT_KNOWN = -1;
    private static final int OPEN_MAX = 1_000_000;

    private final RunId run;
    private final JsonGenerator out;
    private final Programs programs = new Programs();
    private final Map<ProcessId, Lane> running = new HashMap<>();
    private final Map<String, Open> connections = new LinkedHashMap<>();
    private long firstNs = -1;
    private long lastNs;
    private long unkept;

    /// A lane of what the host saw.
    private enum Track {
        NETWORK(1, "connections"),
        HTTP(2, "requests"),
        CALLS(3, "models and tools"),
        RECORDER(4, "recorder");

        private final int tid;
        private final String text;

        Track(int tid, String text) {
            this.tid = tid;
            this.text = text;
        }
    }

    /// A connection that has no end yet.
    private record Open(long index, String name, long atNs) {}

    /// A process while it runs.
    private static final class Lane {
        private String program;
        private long lastNs;

        Lane(String program, long lastNs) {
            this.program = program;
            this.lastNs = lastNs;
        }

        /// A slice never ends before it began, even if the clocks of two processors differ.
        long at(long ns) {
            lastNs = Math.max(lastNs, ns);
            return lastNs;
        }
    }

    public ChromeTrace(RunId run, Writer to) throws IOException {
        this.run = run;
        out = JsonLines.to(to);
        out.writeStartObject();
        out.writeStringField("displayTimeUnit", "ms");
        out.writeArrayFieldStart("traceEvents");
        named("process_name", HOST, HOST, "host: run " + run.value());
        named("process_name", NOT_KNOWN, NOT_KNOWN, "guest: a process that is not known");
        for (Track track : Track.values()) {
            named("thread_name", HOST, track.tid, track.text);
        }
    }

    @Override
    public void see(EventView event, long index) throws IOException {
        if (firstNs < 0) {
            firstNs = event.atNs();
        }
        if (event.isByHost()) {
            lastNs = Math.max(lastNs, event.atNs()); // a guest may date its events as it likes
        }
        switch (event) {
            case ProcessView process -> process(process, index);
            case FileView file -> file(file, index);
            case NetView net -> net(net, index);
            case PrivilegeView use -> instant(use, index, "privilege", name(use));
            case RecorderView.Loss loss -> noticed(loss, index, "lost: " + loss.lost());
            case RecorderView.Noticed noticed -> noticed(noticed, index, String.valueOf(noticed.what()));
            case RecorderView.Alert alert ->
                noticed(
                        alert,
                        index,
                        "alert: " + RunFacts.detailOf(alert.row()).path("title").asText(""));
            case VmView.Command command -> noticed(command, index, name(command));
            case RunView.AgentStart start -> noticed(start, index, "agent starts");
            case RunView.AgentExit exit -> noticed(exit, index, "agent ends");
            case RecorderView _, VmView _, RunView _, EventView.Unknown _ -> {}
        }
    }

    private static String name(EventView event) {
        Row row = event.row();
        String kind = event.kind() == null ? "unknown" : event.kind().eventName();
        return row.has(Column.WHAT) ? kind + " " + row.text(Column.WHAT) : kind;
    }

    private void process(ProcessView event, long index) throws IOException {
        ProcessId id = event.process();
        if (id == null) {
            return;
        }
        switch (event) {
            case ProcessView.Fork _, ProcessView.Running _ -> {
                programs.see(event);
                begin(event, id, index, null);
            }
            case ProcessView.Exec exec -> {
                if (exec.failed()) {
                    instant(exec, index, "process", exec.exe() == null ? "exec" : "exec " + exec.exe());
                } else {
                    programs.see(event);
                    Lane lane = running.get(id);
                    if (lane != null) {
                        end(id, lane, event.atNs());
                    }
                    begin(event, id, index, exec.argv());
                }
            }
            case ProcessView.Exit _ -> {
                Lane lane = running.remove(id);
                if (lane != null) {
                    end(id, lane, event.atNs());
                }
            }
            case ProcessView.Signal _, ProcessView.Container _ -> instant(event, index, "process", name(event));
        }
    }

    private void begin(ProcessView event, ProcessId id, long index, @Nullable List<Text> argv) throws IOException {
        String name = programs.name(event);
        String program = name == null ? "?" : cut(name);
        Lane lane = running.get(id);
        if (lane == null) {
            if (running.size() >= OPEN_MAX) {
                unkept++;
                return;
            }
            lane = new Lane(program, event.atNs());
            running.put(id, lane);
        } else if (argv == null) {
            return; // it runs already, as far as is known
        }
        lane.program = program;
        named("process_name", id.pid(), id.pid(), program + " (" + id.pid() + ")");
        long at = lane.at(event.atNs());
        entry("B", program, "process", at, id.pid(), id.pid());
        out.writeEndObject();
        mark("t", name(event), "process", at, id.pid(), id.pid());
        out.writeObjectFieldStart("args");
        out.writeNumberField("index", index);
        if (argv != null) {
            out.writeArrayFieldStart("argv");
            for (Text each : argv.subList(0, Math.min(argv.size(), ARGUMENTS_MAX))) {
                out.writeString(cut(each.toString()));
            }
            out.writeEndArray();
        }
        out.writeEndObject();
        out.writeEndObject();
    }

    private void end(ProcessId id, Lane lane, long atNs) throws IOException {
        entry("E", lane.program, "process", lane.at(atNs), id.pid(), id.pid());
        out.writeEndObject();
    }

    private void file(FileView event, long index) throws IOException {
        Text path = event.path();
        String act = event.kind() == null ? "file" : event.kind().eventName();
        instant(event, index, "file", act + (path == null ? "" : " " + path));
    }

    private void net(NetView event, long index) throws IOException {
        switch (event) {
            case NetView.Flow flow when flow.isByHost() -> connection(flow, index);
            case NetView.Exchange exchange -> {
                JsonNode detail = RunFacts.detailOf(exchange.row());
                long took = detail.path("durationNs").asLong();
                span(
                        exchange,
                        index,
                        Track.HTTP,
                        detail.path("method").asText() + " " + exchange.host() + " "
                                + detail.path("status").asText(),
                        event.atNs() - took);
            }
            case NetView.ModelCall call -> {
                JsonNode detail = RunFacts.detailOf(call.row());
                span(
                        call,
                        index,
                        Track.CALLS,
                        "model " + detail.path("requestModel").asText(),
                        detail.path("askedAtNs").asLong(event.atNs()));
            }
            case NetView.McpCall call ->
                span(
                        call,
                        index,
                        Track.CALLS,
                        call.what() == null ? "mcp" : "mcp " + call.what(),
                        RunFacts.detailOf(call.row()).path("askedAtNs").asLong(event.atNs()));
            case NetView.ToolUse use -> instant(use, index, "call", "tool " + use.what(), HOST, Track.CALLS.tid);
            case NetView.Decision decision ->
                instant(
                        decision,
                        index,
                        "egress",
                        name(decision) + " " + end(peer(decision, decision.host()), decision.remotePort()),
                        HOST,
                        Track.NETWORK.tid);
            case NetView.Dns dns -> instant(dns, index, "net", "dns " + (dns.name() == null ? "?" : dns.name()));
            default ->
                instant(
                        event,
                        index,
                        "net",
                        name(event)
                                + (event.remoteIp() == null ? "" : " " + end(event.remoteIp(), event.remotePort())));
        }
    }

    private static @Nullable Text peer(NetView event, @Nullable Text host) {
        return host == null ? event.remoteIp() : host;
    }

    /// An asynchronous slice from the first to the last event of a connection.
    private void connection(NetView.Flow flow, long index) throws IOException {
        String from = flow.protocol() + " " + end(flow.localIp(), flow.localPort()) + " → ";
        String name = from + end(flow.host() == null ? flow.remoteIp() : flow.host(), flow.remotePort());
        String ends = from + end(flow.remoteIp(), flow.remotePort());
        Open open = connections.get(ends);
        boolean begins = String.valueOf(flow.ending()).equals("open");
        if (begins && open != null) { // of the one before nobody said that it ended
            connections.remove(ends);
            asyncEnd(open, flow.atNs());
            open = null;
        }
        if (begins && connections.size() < OPEN_MAX) {
            connections.put(ends, new Open(index, name, flow.atNs()));
            async("b", name, flow, index, Track.NETWORK, index, flow.atNs());
        } else if (open == null) {
            instant(flow, index, "net", name, HOST, Track.NETWORK.tid);
        } else {
            connections.remove(ends);
            async("e", open.name(), flow, index, Track.NETWORK, open.index(), flow.atNs());
        }
    }

    private static String end(@Nullable Text address, @Nullable Long port) {
        return (address == null ? "?" : address) + (port == null ? "" : ":" + port);
    }

    private void span(NetView event, long index, Track track, String name, long fromNs) throws IOException {
        long from = fromNs < firstNs || fromNs > event.atNs() ? event.atNs() : fromNs;
        async("b", name, event, index, track, index, from);
        async("e", name, event, index, track, index, event.atNs());
    }

    private void async(String phase, String name, NetView event, long index, Track track, long id, long atNs)
            throws IOException {
        entry(phase, name, track.text, atNs, HOST, track.tid);
        out.writeStringField("id", Long.toString(id));
        arguments(event, index);
    }

    /// On the lane of the process whose act it is.
    private void instant(EventView event, long index, String category, String name) throws IOException {
        Row row = event.row();
        if (event.isByHost()) {
            instant(event, index, category, name, HOST, Track.NETWORK.tid);
            return;
        }
        long pid = event.process() == null ? NOT_KNOWN : event.pid();
        instant(event, index, category, name, pid, row.has(Column.TID) ? row.number(Column.TID) : pid);
    }

    private void instant(EventView event, long index, String category, String name, long pid, long tid)
            throws IOException {
        mark("t", name, category, event.atNs(), pid, tid);
        arguments(event, index);
    }

    private void noticed(EventView event, long index, String name) throws IOException {
        mark("g", name, "recorder", event.atNs(), HOST, Track.RECORDER.tid);
        arguments(event, index);
    }

    private void arguments(EventView event, long index) throws IOException {
        Row row = event.row();
        out.writeObjectFieldStart("args");
        out.writeNumberField("index", index);
        for (Column column : List.of(
                Column.RET,
                Column.BYTES_READ,
                Column.BYTES_WRITTEN,
                Column.BYTES_OUT,
                Column.BYTES_IN,
                Column.EXIT_CODE)) {
            if (row.has(column)) {
                out.writeNumberField(column.columnName(), row.number(column));
            }
        }
        if (row.has(Column.PATH_TO)) {
            out.writeStringField("path_to", cut(row.text(Column.PATH_TO).toString()));
        }
        out.writeEndObject();
        out.writeEndObject();
    }

    /// Opens the entry of an instant, of a thread (`t`) or of all (`g`); the caller closes it.
    private void mark(String scope, String name, String category, long atNs, long pid, long tid) throws IOException {
        entry("i", name, category, atNs, pid, tid);
        out.writeStringField("s", scope);
    }

    /// Opens an entry; the caller closes it.
    private void entry(String phase, String name, String category, long atNs, long pid, long tid) throws IOException {
        out.writeStartObject();
        out.writeStringField("ph", phase);
        out.writeStringField("name", cut(name));
        out.writeStringField("cat", category);
        out.writeNumberField("ts", (atNs - firstNs) / NS_OF_MICRO);
        out.writeNumberField("pid", pid);
        out.writeNumberField("tid", tid);
    }

    private void named(String what, long pid, long tid, String name) throws IOException {
        out.writeStartObject();
        out.writeStringField("ph", "M");
        out.writeStringField("name", what);
        out.writeNumberField("pid", pid);
        out.writeNumberField("tid", tid);
        out.writeObjectFieldStart("args");
        out.writeStringField("name", cut(name));
        out.writeEndObject();
        out.writeEndObject();
    }

    private static String cut(String text) {
        return text.length() <= TEXT_CHARS_MAX ? text : text.substring(0, TEXT_CHARS_MAX) + "…";
    }

    private void asyncEnd(Open open, long atNs) throws IOException {
        entry("e", open.name(), Track.NETWORK.text, Math.max(atNs, open.atNs()), HOST, Track.NETWORK.tid);
        out.writeStringField("id", Long.toString(open.index()));
        notRecorded();
    }

    /// Closes the entry of an end that no event tells.
    private void notRecorded() throws IOException {
        out.writeObjectFieldStart("args");
        out.writeStringField("end", "not recorded");
        out.writeEndObject();
        out.writeEndObject();
    }

    @Override
    public void end(RunFacts facts, List<String> limits) throws IOException {
        for (Map.Entry<ProcessId, Lane> left : running.entrySet()) {
            Lane lane = left.getValue();
            ProcessId id = left.getKey();
            long at = lane.at(lastNs);
            mark("t", "end not recorded", "process", at, id.pid(), id.pid());
            notRecorded();
            entry("E", lane.program, "process", at, id.pid(), id.pid());
            out.writeEndObject();
        }
        for (Open left : connections.values()) {
            asyncEnd(left, lastNs);
        }
        out.writeEndArray();
        out.writeObjectFieldStart("otherData");
        out.writeStringField("run", run.value());
        out.writeStringField("state", facts.state().name());
        out.writeStringField("startedAt", Timestamps.format(Math.max(firstNs, 0)));
        out.writeStringField("blackbox", Release.VERSION);
        out.writeArrayFieldStart("limits");
        for (String limit : limits) {
            out.writeString(limit);
        }
        if (unkept > 0) {
            out.writeString(unkept + " processes have no slice, for " + OPEN_MAX + " others ran at the same time");
        }
        out.writeEndArray();
        out.writeEndObject();
        out.writeEndObject();
        JsonLines.end(out);
    }
}
