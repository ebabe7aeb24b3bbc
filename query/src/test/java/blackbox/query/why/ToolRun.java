package blackbox.query.why;

import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.query.QueryException;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A run of agents that use tools, event by event; times are milliseconds from its start. Each event's
/// index is returned.
public final class ToolRun {

    public static final String MODEL = "model.example";
    public static final Endpoint MODEL_AT = new Endpoint("10.0.3.1", 443);

    private static final ObjectMapper JSON = new ObjectMapper();

    public final TestRun run;
    private Actor actor = Actor.AGENT;

    /// A tool that an answer asks for.
    ///
    /// @param wholeMs when its block had passed
    public record Use(@Nullable String id, String name, String arguments, long wholeMs, boolean cut, String type) {
        public static Use of(@Nullable String id, String name, String arguments, long wholeMs) {
            return new Use(id, name, arguments, wholeMs, false, "tool_use");
        }

        public static Use shell(String id, String command, long wholeMs) {
            return of(
                    id, "shell", JSON.createObjectNode().put("command", command).toString(), wholeMs);
        }
    }

    public ToolRun(Path folder) throws IOException {
        run = new TestRun(folder).open("agent");
    }

    public ToolRun by(Actor other) {
        actor = other;
        return this;
    }

    public static long ns(long ms) {
        return TestRun.START_NS + ms * 1_000_000;
    }

    static ProcessRef process(int pid, int ppid, long startNs) {
        return new ProcessRef(pid, pid, ppid, startNs, Text.of("p" + pid), 1000);
    }

    private EventHeader guest(long ms, ProcessRef process, Marks marks) {
        run.at(ns(ms));
        return new EventHeader(ns(ms), Source.GUEST, new GuestOrigin(0, run.nextNumber(0), actor), process, marks);
    }

    private EventHeader guest(long ms, int pid, int ppid) {
        return guest(ms, process(pid, ppid, pid), Marks.NONE);
    }

    private EventHeader host(long ms) {
        run.at(ns(ms));
        return EventHeader.host(ns(ms));
    }

    /// `pid` is the child's; a process starts at the nanosecond of its number.
    public long fork(long ms, int pid, int parent) {
        return run.add(new Event.ProcessFork(guest(ms, pid, parent), (long) parent));
    }

    /// A child that has a number that another one had before.
    long fork(long ms, ProcessRef child, long parentStart) {
        return run.add(new Event.ProcessFork(guest(ms, child, Marks.NONE), parentStart));
    }

    public long exec(long ms, int pid, int ppid, String... argv) {
        return exec(ms, process(pid, ppid, pid), Marks.NONE, argv);
    }

    long exec(long ms, ProcessRef process, Marks marks, String... argv) {
        return run.add(new Event.ProcessExec(
                guest(ms, process, marks),
                Text.of(argv[0].startsWith("/") ? argv[0] : "/usr/bin/" + argv[0]),
                Arrays.stream(argv).map(Text::of).toList(),
                null,
                Text.of("/workspace"),
                0));
    }

    /// A fork and the start of a program in the child.
    public long start(long ms, int pid, int parent, String... argv) {
        fork(ms, pid, parent);
        return exec(ms + 1, pid, parent, argv);
    }

    long exit(long ms, int pid, int ppid) {
        return exit(ms, pid, ppid, 0, null);
    }

    public long exit(long ms, int pid, int ppid, @Nullable Integer code, @Nullable Integer signal) {
        return run.add(new Event.ProcessExit(guest(ms, pid, ppid), code, signal));
    }

    long write(long ms, int pid, int ppid, String path, long bytes) {
        return write(ms, process(pid, ppid, pid), path, bytes);
    }

    long write(long ms, ProcessRef process, String path, long bytes) {
        return run.add(
                new Event.FileIo(guest(ms, process, Marks.NONE), Text.of(path), 0, bytes, 0, 1, 0L, bytes, null));
    }

    long rename(long ms, int pid, int ppid, String from, String to) {
        return run.add(new Event.FileChange(
                guest(ms, pid, ppid), Kind.FILE_RENAME, Text.of(from), Text.of(to), null, null, null, null, 0));
    }

    long privilege(long ms, int pid, int ppid, String what) {
        return run.add(new Event.PrivilegeUse(guest(ms, pid, ppid), what, null, null, 0));
    }

    public long connect(long ms, int pid, int ppid, int localPort, Endpoint remote) {
        return run.add(new Event.NetCall(
                guest(ms, pid, ppid),
                Kind.NET_CONNECT,
                "tcp",
                localPort == 0 ? null : local(localPort),
                remote,
                null,
                -115));
    }

    /// What the guest told when the connection was over.
    long flow(long ms, int pid, int ppid, int localPort, Endpoint remote) {
        return run.add(new Event.NetFlow(
                guest(ms, pid, ppid), "tcp", local(localPort), remote, null, 1, 1, null, null, "closed"));
    }

    /// What the gateway decided, with the name that it gave the address for.
    long decision(long ms, int localPort, Endpoint remote, String host) {
        return run.add(new Event.EgressDecision(
                host(ms), "allow", "tcp", local(localPort), remote, Text.of(host), "{\"stage\":\"connect\"}"));
    }

    public static Endpoint local(int port) {
        return new Endpoint("10.0.2.15", port);
    }

    /// An agent's runtime: a process that was started before all calls and is connected to the model.
    public void runtime(int pid, int localPort) {
        start(1, pid, 1, "node", "/usr/bin/agent");
        connect(5, pid, 1, localPort, MODEL_AT);
    }

    /// A call of the model, which is told when it is over; each tool's event follows it.
    public long call(int localPort, int number, long askedMs, long overMs, List<String> results, Use... uses) {
        ObjectNode detail = JSON.createObjectNode()
                .put("number", number)
                .put("responseModel", "model-1")
                .put("responseId", "answer-" + askedMs)
                .put("askedAtNs", ns(askedMs))
                .put("sentAtNs", ns(askedMs + 1));
        var ids = detail.putArray("toolResults");
        results.forEach(ids::add);
        long index = run.add(new Event.AgentCall(
                Kind.LLM_CALL,
                host(overMs),
                Text.of("anthropic-messages"),
                local(localPort),
                MODEL_AT,
                Text.of(MODEL),
                detail.toString()));
        for (Use use : uses) {
            ObjectNode of = JSON.createObjectNode()
                    .put("number", number)
                    .put("type", use.type)
                    .put("id", use.id)
                    .put("wholeAtNs", ns(use.wholeMs))
                    .put("arguments", use.arguments)
                    .put("argumentsTruncated", use.cut);
            run.add(new Event.AgentCall(
                    Kind.LLM_TOOL,
                    host(overMs),
                    Text.of(use.name),
                    local(localPort),
                    MODEL_AT,
                    Text.of(MODEL),
                    of.toString()));
        }
        return index;
    }

    long exchange(long ms, int localPort, int number) {
        return exchange(ms, localPort, number, MODEL_AT, MODEL);
    }

    long exchange(long ms, int localPort, int number, Endpoint remote, String host) {
        return run.add(new Event.HttpExchange(
                host(ms), "answered", local(localPort), remote, Text.of(host), 1, 1, "{\"number\":" + number + "}"));
    }

    long mcp(long ms, int localPort, Endpoint remote, String name, String arguments) {
        String detail = JSON.createObjectNode()
                .put("number", 0)
                .put("name", name)
                .put("arguments", arguments)
                .toString();
        return run.add(new Event.AgentCall(
                Kind.MCP_CALL,
                host(ms),
                Text.of("tools/call"),
                local(localPort),
                remote,
                Text.of("mcp.example"),
                detail));
    }

    long loss(long ms) {
        return run.add(new Event.RecorderLoss(host(ms), 3, "ring", null));
    }

    /// Closes the run.
    public Recordings recordings() throws IOException {
        run.close(0);
        run.spool(0, run.batches.size());
        return Recordings.unchecked(run.data);
    }

    /// Closes the run of a guest whose clock was off.
    Recordings drifted(long mostMs, long worstMs) throws IOException {
        String clock = JSON.createObjectNode()
                .set(
                        "clock",
                        JSON.createObjectNode()
                                .put("offsetP99Ns", mostMs * 1_000_000)
                                .put("offsetMaxNs", -worstMs * 1_000_000))
                .toString();
        run.heartbeat(true);
        run.add(new Event.RunClose(EventHeader.host(run.tick()), run.nextIndex(), 0, 0, null, clock));
        run.seal();
        run.spool(0, run.batches.size());
        return Recordings.unchecked(run.data);
    }

    Why why(Recordings recordings, long index) throws IOException, QueryException {
        return WhyCollector.collect(recordings, run.run, index, WhyCollector.Depth.ONE_CALL);
    }

    Caused caused(Recordings recordings, Object call) throws IOException, QueryException {
        return CausedCollector.collect(recordings, run.run, String.valueOf(call));
    }

    /// The grade and the id of the tool use that an event is tied to: `A use-1`; `null` if to none.
    String tie(Recordings recordings, long index) throws IOException, QueryException {
        Why why = why(recordings, index);
        return why.grade() + " "
                + why.chain().stream()
                        .filter(step -> step.role() == Step.Role.TOOL)
                        .map(Step::id)
                        .findFirst()
                        .orElse("-");
    }

    /// Marks of arguments that were cut.
    static Marks argvCut() {
        return new Marks(Map.of("argv", 100_000L), List.of());
    }
}
