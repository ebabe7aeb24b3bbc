package blackbox.query.why;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.query.answer.TouchedCollector;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Gathers what followed from a call of a model, or from one tool that it asked for. Owned by one thread.
public final class CausedCollector {

    private static final int UNTIED_MAX = 1000;

    /// How much of each sort is kept of each tool use, where all of a run are asked about.
    private static final int KEPT_OF_ALL_MAX = 16;

    private final Causes causes;
    private final Map<ToolUse, ToolEffects> effects = new LinkedHashMap<>();
    private final List<Period> periods;
    private final List<Caused.Program> untied = new ArrayList<>();
    private final Map<Long, CallTies.Within> within = new HashMap<>();
    private long untiedCount;

    /// From a call to the next one of the same process.
    private record Period(@Nullable ProcessId process, long fromNs, long toNs) {}

    private CausedCollector(Causes causes, List<ToolUse> tools, Set<ModelTurn> turns, int keptMax) {
        this.causes = causes;
        tools.forEach(tool -> effects.put(tool, new ToolEffects(causes.connections, keptMax)));
        this.periods = turns.stream().map(this::period).toList();
    }

    private Period period(ModelTurn turn) {
        ProcessId process = process(turn);
        long fromNs = turn.exchange.askedNs();
        long toNs = causes.book.turns().stream()
                .filter(each -> process != null && process.equals(process(each)))
                .mapToLong(each -> each.exchange.askedNs())
                .filter(askedNs -> askedNs > fromNs)
                .min()
                .orElse(Long.MAX_VALUE);
        return new Period(process, fromNs, toNs);
    }

    private static @Nullable ProcessId process(ModelTurn turn) {
        return turn.holder == null ? null : turn.holder.process();
    }

    /// What followed from `call`: the index of an `llm.call` or `llm.tool`, or the id of a tool use.
    ///
    /// @throws QueryException if there is no such call
    public static Caused collect(Recordings recordings, RunId run, String call) throws IOException, QueryException {
        Causes causes = Causes.read(recordings, run, (_, _, _) -> {});
        List<ModelTurn> turns = causes.book.turns().stream()
                .filter(turn -> call.equals(Long.toString(turn.index)))
                .toList();
        List<ToolUse> tools = turns.isEmpty() ? tools(causes, call) : turns.getFirst().tools;
        if (turns.isEmpty() && tools.isEmpty()) {
            throw new QueryException(Code.NOT_FOUND, noSuchCall(recordings, run, call));
        }
        Set<ModelTurn> of =
                turns.isEmpty() ? tools.stream().map(tool -> tool.turn).collect(Collectors.toSet()) : Set.copyOf(turns);
        var collector = new CausedCollector(causes, tools, of, ToolEffects.KEPT_MAX);
        TouchedCollector.read(recordings, run, collector::see);
        return collector.caused(run, call);
    }

    /// What ties all calls of `run` together, as far as it is recorded now. Reads it three times.
    public static CallTies ties(Recordings recordings, RunId run) throws IOException {
        Causes causes = Causes.read(recordings, run, (_, _, _) -> {});
        var collector = new CausedCollector(causes, causes.book.tools(), Set.of(), KEPT_OF_ALL_MAX);
        TouchedCollector.read(recordings, run, collector::see);
        return collector.ties();
    }

    private static List<ToolUse> tools(Causes causes, String call) {
        List<ToolUse> byIndex = causes.book.tools().stream()
                .filter(tool -> call.equals(Long.toString(tool.index)))
                .toList();
        return byIndex.isEmpty()
                ? causes.book.tools().stream()
                        .filter(tool -> call.equals(tool.id))
                        .toList()
                : byIndex;
    }

    private static String noSuchCall(Recordings recordings, RunId run, String call) throws IOException {
        String lists = "; `blackbox touched " + run
                + " --calls` lists the calls of models and their tools, each with its" + " event's index";
        if (call.chars().allMatch(c -> c >= '0' && c <= '9') && !call.isEmpty() && call.length() < 19) {
            long index = Long.parseLong(call);
            try (RunReader reader = RunReader.open(recordings, run, index, Set.of(Column.KIND))) {
                if (reader.next() && reader.index() == index && reader.row().has(Column.KIND)) {
                    Kind kind = Kind.ofCode(reader.row().number(Column.KIND));
                    return "event " + index + " of run " + run + " is "
                            + (kind == null ? "of a kind that is not known here" : "a " + kind.eventName())
                            + ", not a call of a model nor a tool that one asked for" + lists;
                }
            }
        }
        return "run " + run + " has no call or tool use '" + call + "'" + lists;
    }

    private void see(EventView event, long index) {
        if (event.isByHost() && !isRequest(event)) {
            return;
        }
        ProcessId process = causes.process(event);
        if (process == null || event.isBySupervisor()) {
            return;
        }
        Tie tie = causes.tie(process, index, event.atNs(), () -> Act.of(event, causes.connections));
        if (tie != null) {
            ToolEffects of = effects.get(tie.tool());
            if (of != null) {
                of.see(event, index, tie);
            }
            if (event instanceof NetView.McpCall) {
                within(index, event.atNs(), tie);
            }
        } else if (event instanceof ProcessView.Exec exec && !exec.failed() && isUntied(process, event.atNs())) {
            untiedCount++;
            if (untied.size() < UNTIED_MAX) {
                untied.add(ToolEffects.program(exec, index, null));
            }
        }
    }

    /// A request on a connection that may have been there before; a call of a model is no effect of a tool
    /// by itself.
    private boolean isRequest(EventView event) {
        return event instanceof NetView.McpCall
                || event instanceof NetView.Exchange exchange && causes.turnOf(exchange) == null;
    }

    private boolean isUntied(ProcessId process, long atNs) {
        return periods.stream()
                .filter(period -> atNs >= period.fromNs && atNs < period.toNs)
                .anyMatch(period -> period.process != null
                        && !period.process.equals(process)
                        && causes.tree.lineage(process).contains(period.process));
    }

    private Caused caused(RunId run, String call) {
        return new Caused(run, call, tools(), untied, untiedCount, causes.limits());
    }

    private List<Caused.OfTool> tools() {
        List<Caused.OfTool> tools = new ArrayList<>();
        effects.forEach((tool, of) -> tools.add(of.of(tool)));
        tools.sort(Comparator.comparingLong(each -> each.used().index()));
        return tools;
    }

    private CallTies ties() {
        for (ModelTurn turn : causes.book.turns()) {
            ProcessId process = process(turn);
            Tie outer = process == null ? null : causes.tie(process, turn.index, turn.exchange.askedNs(), null);
            if (outer != null) {
                within(turn.index, turn.exchange.askedNs(), outer);
            }
        }
        var tools = new LinkedHashMap<Long, Caused.OfTool>();
        tools().forEach(tool -> tools.put(tool.used().index(), tool));
        return new CallTies(tools, within, causes.limits());
    }

    /// Only of a tool whose own call had begun before, so that nothing is within itself.
    private void within(long index, long atNs, Tie tie) {
        if (tie.grade().compareTo(Grade.B) <= 0 && tie.tool().turn.exchange.askedNs() < atNs) {
            within.put(index, new CallTies.Within(tie.tool().index, tie.grade()));
        }
    }
}
