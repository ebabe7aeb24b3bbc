package blackbox.query.why;

import blackbox.evidence.store.Recordings;
import blackbox.query.answer.TouchedCollector;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// What ties a run's events to the tools that its models asked for. Reads the run twice: once for calls,
/// connections and who started whom, and once for the programs that were started while tools were being
/// used, since an `llm.tool` stands in the record when its answer is over, which may be after what it led
/// to. Owned by one thread.
final class Causes {

    private static final Set<Column> OF_PROGRAMS = EnumSet.of(
            Column.KIND,
            Column.AT_NS,
            Column.SOURCE,
            Column.PID,
            Column.START_NS,
            Column.PPID,
            Column.ACTOR,
            Column.EXE,
            Column.ARGV,
            Column.CWD,
            Column.RET,
            Column.TRUNCATED,
            Column.UNREAD,
            Column.WHAT,
            Column.EXIT_CODE,
            Column.SIGNAL);

    final ProcessTree tree = new ProcessTree();
    final Connections connections = new Connections();
    final CallBook book = new CallBook();
    private final Certainty certainty = new Certainty();
    private final Map<ProcessId, String> directories = new HashMap<>();
    private final OpenTools open;
    private final ExecTies execs;

    private Causes(Recordings recordings, RunId run) throws IOException {
        RunFacts facts = TouchedCollector.read(recordings, run, this::see);
        certainty.end(facts);
        tree.join();
        book.join(tree, connections, certainty.lastNs());
        open = new OpenTools(book.tools(), certainty.tolerance());
        execs = new ExecTies(tree, open, certainty);
    }

    /// Reads them.
    ///
    /// @param programs is given the starts of programs at the second, when all processes are known
    static Causes read(Recordings recordings, RunId run, Programs programs) throws IOException {
        var causes = new Causes(recordings, run);
        TouchedCollector.read(recordings, run, OF_PROGRAMS, (event, index) -> {
            if (event instanceof ProcessView.Exec exec && !exec.failed()) {
                causes.program(exec, index);
                programs.see(causes, exec, index);
            }
        });
        causes.execs.settle();
        return causes;
    }

    /// Takes the start of a program.
    @FunctionalInterface
    interface Programs {
        void see(Causes causes, ProcessView.Exec exec, long index);
    }

    private void see(EventView event, long index) {
        certainty.see(event, index);
        tree.see(event);
        if (event instanceof NetView net) {
            connections.see(net);
            book.see(net, index);
        }
    }

    private void program(ProcessView.Exec exec, long index) {
        execs.see(exec, index);
        ProcessId process = exec.process();
        if (process != null && open.isRoot(process) && exec.row().has(Column.CWD)) {
            directories.put(process, exec.row().text(Column.CWD).toString());
        }
    }

    /// The process whose act an event is. Of what the host saw of a connection it is the one that held it.
    @Nullable
    ProcessId process(EventView event) {
        ProcessId process = event.process();
        if (process != null || !(event instanceof NetView net) || !event.isByHost()) {
            return process;
        }
        Connections.Holder holder = connections.holder(Connections.Ends.of(net), event.atNs());
        return holder == null ? null : holder.process();
    }

    /// The call of a model that an exchange was, null if it was none.
    @Nullable
    ModelTurn turnOf(NetView.Exchange exchange) {
        long number = RunFacts.detailOf(exchange.row()).path("number").asLong();
        return book.turn(Connections.Ends.of(exchange), number, exchange.atNs());
    }

    /// Whether tools ran below the process, or below one from which it descends.
    boolean isOfRuntime(ProcessId process) {
        return tree.lineage(process).stream().anyMatch(open::isRoot);
    }

    /// What an act of a process was tied to: by the start of its program or of one from which it descends,
    /// or because what it did is what was asked for. Null if to nothing.
    ///
    /// @param did what it did, to be compared with what was asked for; null if that is not to be compared
    @Nullable
    Tie tie(ProcessId process, long index, long atNs, @Nullable Supplier<Act> did) {
        long untilNs = atNs;
        boolean knownRoot = false;
        Tie byTime = null;
        for (ProcessId each : tree.lineage(process)) {
            boolean isRoot = open.isRoot(each);
            if (isRoot) {
                knownRoot = true;
                List<ToolUse> tools = did == null ? List.of() : open.at(each, atNs);
                Tie own = did == null || tools.isEmpty() ? null : agreeing(each, process, index, tools, did);
                if (own != null) {
                    return own;
                }
                if (byTime == null && !tools.isEmpty()) {
                    byTime = byTime(tools, each.equals(process), index);
                }
            }
            Tie started = execs.tie(each, untilNs, atNs);
            if (started != null) {
                return byTime == null ? started : with(started, byTime);
            }
            untilNs = Math.min(untilNs, tree.forkNs(each));
        }
        if (byTime == null && !knownRoot && did != null) {
            List<ToolUse> tools = open.at(null, atNs);
            return tools.isEmpty() ? null : new Tie(tools.getFirst(), Grade.D, -1, rest(tools, Grade.D), List.of());
        }
        return byTime;
    }

    private @Nullable Tie agreeing(
            ProcessId root, ProcessId process, long index, List<ToolUse> tools, Supplier<Act> did) {
        Act act = did.get();
        Grade best = null;
        var fitting = new ArrayList<ToolUse>();
        for (ToolUse tool : tools) {
            Grade grade = act.agreement(tool, directories.get(root));
            if (grade == null || best != null && grade.compareTo(best) > 0) {
                continue;
            }
            if (!grade.equals(best)) {
                fitting.clear();
                best = grade;
            }
            fitting.add(tool);
        }
        if (best == null) {
            return null;
        }
        ToolUse tool = fitting.getFirst();
        var doubts = new ArrayList<>(certainty.doubts(tool, index));
        if (fitting.size() > 1) {
            doubts.add("several tool uses asked for it at that time");
        }
        if (!root.equals(process)) {
            doubts.add("it was done by a process that the runtime had started before");
        }
        if (best == Grade.B) {
            doubts.add("what was done agrees only in part with what was asked for");
        }
        Grade grade = doubts.isEmpty() ? best : best.atMost(Grade.B);
        return new Tie(tool, grade, -1, rest(fitting, grade), doubts);
    }

    /// Of the runtime's own acts, most are its housekeeping.
    private Tie byTime(List<ToolUse> tools, boolean isRuntime, long index) {
        ToolUse tool = tools.getFirst();
        boolean ended = tool.window.end() == Window.End.RESULT;
        Grade grade = isRuntime || !ended ? Grade.D : Grade.C;
        return new Tie(tool, grade, -1, rest(tools, grade), certainty.doubts(tool, index));
    }

    private static Tie with(Tie tie, Tie other) {
        var others = new ArrayList<>(tie.others());
        others.add(new Tie.Other(other.tool(), other.grade()));
        return new Tie(tie.tool(), tie.grade(), tie.exec(), others, tie.doubts());
    }

    private static List<Tie.Other> rest(List<ToolUse> tools, Grade grade) {
        return tools.stream().skip(1).map(tool -> new Tie.Other(tool, grade)).toList();
    }

    /// What may be missing, in sentences.
    List<String> limits() {
        var limits = new ArrayList<>(certainty.limits());
        limits.addAll(book.limits());
        limits.addAll(connections.limits());
        limits.addAll(tree.limits());
        limits.addAll(execs.limits());
        return limits;
    }
}
