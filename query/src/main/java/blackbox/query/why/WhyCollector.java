package blackbox.query.why;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.RunReader;
import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import blackbox.query.answer.EventLine;
import blackbox.query.why.Step.Role;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Kind;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.EventViews;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import blackbox.schemas.view.RecorderView;
import blackbox.schemas.view.RunView;
import blackbox.schemas.view.VmView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Finds out what an event followed from. Owned by one thread.
public final class WhyCollector {

    private static final int PROGRAMS_MAX = 64;
    private static final int LINEAGE_MAX = 64;

    private final RunId run;
    private final long index;
    private final EventView event;
    private final Depth depth;

    /// The programs of the processes of which the event's descends.
    private final Map<ProcessId, List<Step>> programs = new HashMap<>();

    private @Nullable Set<ProcessId> watched;
    private final List<Step> chain = new ArrayList<>();

    /// How far back to go.
    public enum Depth {
        /// To the answer that asked for it, and the results that this answer was given.
        ONE_CALL,
        /// To the first call.
        ALL_CALLS
    }

    private WhyCollector(RunId run, long index, EventView event, Depth depth) {
        this.run = run;
        this.index = index;
        this.event = event;
        this.depth = depth;
    }

    /// What the event `index` of `run` followed from.
    ///
    /// @throws QueryException if the run has no such event
    public static Why collect(Recordings recordings, RunId run, long index, Depth depth)
            throws IOException, QueryException {
        if (index >= 0) {
            try (RunReader reader = RunReader.open(recordings, run, index)) {
                if (reader.next() && reader.index() == index) {
                    var collector = new WhyCollector(run, index, new EventViews().of(reader.row()), depth);
                    Causes causes = Causes.read(recordings, run, collector::program);
                    return collector.why(causes);
                }
            }
        }
        throw new QueryException(
                Code.NOT_FOUND,
                "run " + run + " has no event " + index + "; `blackbox events " + run
                        + "` lists them, each with its index");
    }

    private void program(Causes causes, ProcessView.Exec exec, long at) {
        if (watched == null) {
            ProcessId process = process(causes);
            watched = process == null ? Set.of() : new HashSet<>(causes.tree.lineage(process));
        }
        ProcessId process = exec.process();
        if (process == null || !watched.contains(process)) {
            return;
        }
        List<Step> own = programs.computeIfAbsent(process, _ -> new ArrayList<>());
        if (own.size() == PROGRAMS_MAX) {
            own.removeFirst();
        }
        own.add(new Step(
                Role.PROCESS,
                new Step.Event(Kind.PROCESS_EXEC.eventName(), at, exec.atNs()),
                EventLine.what(exec.row()),
                process.pid(),
                null,
                null));
    }

    private @Nullable ProcessId process(Causes causes) {
        return causes.process(event);
    }

    private Why why(Causes causes) {
        chain.add(new Step(
                Role.EVENT,
                new Step.Event(kind(), index, event.atNs()),
                EventLine.what(event.row()),
                event.process() == null ? null : (Long) event.pid(),
                null,
                null));
        ModelTurn turn = turn(causes);
        if (turn != null) {
            return ofCall(causes, turn);
        }
        ProcessId process = process(causes);
        if (event.isBySupervisor()) {
            return none(null, "follows from no call: the supervisor did it, which runs the agent in the guest", causes);
        }
        if (process == null) {
            return none(
                    null,
                    event instanceof NetView
                            ? "it is not known which process it belongs to, so not what it follows from"
                            : "follows from no call: no process of the agent did it",
                    causes);
        }
        Tie tie = causes.tie(process, index, event.atNs(), () -> Act.of(event, causes.connections));
        if (tie == null) {
            return untied(causes, process);
        }
        up(causes, process, tie);
        return why(causes, tie);
    }

    private String kind() {
        Kind kind = event.kind();
        return kind == null ? "unknown" : kind.eventName();
    }

    /// The call that the event is, or is a part of.
    private @Nullable ModelTurn turn(Causes causes) {
        return switch (event) {
            case NetView.ModelCall _ ->
                causes.book.turns().stream()
                        .filter(turn -> turn.index == index)
                        .findFirst()
                        .orElse(null);
            case NetView.ToolUse _ ->
                causes.book.tools().stream()
                        .filter(tool -> tool.index == index)
                        .map(tool -> tool.turn)
                        .findFirst()
                        .orElse(null);
            case NetView.Exchange exchange -> causes.turnOf(exchange);
            case NetView _,
                    ProcessView _,
                    FileView _,
                    PrivilegeView _,
                    RecorderView _,
                    VmView _,
                    RunView _,
                    EventView.Unknown _ -> null;
        };
    }

    /// A call follows from the results that it was given, and its process may have been started by another
    /// call's tool.
    private Why ofCall(Causes causes, ModelTurn turn) {
        if (turn.index != index) {
            chain.add(Step.call(turn));
        }
        given(turn);
        Tie outer =
                turn.holder == null ? null : causes.tie(turn.holder.process(), index, turn.exchange.askedNs(), null);
        if (outer != null && turn.holder != null) {
            up(causes, turn.holder.process(), outer);
            return why(causes, outer);
        }
        String answer = turn.brought.isEmpty()
                ? "no result of a tool was brought with it: it follows from what the agent was given at its start"
                : "by the protocol: a model answers what it is given";
        return new Why(run, index, null, answer, chain, List.of(), causes.limits());
    }

    private Why untied(Causes causes, ProcessId process) {
        List<ModelTurn> turns = causes.book.turns();
        long firstNs =
                turns.stream().mapToLong(turn -> turn.exchange.askedNs()).min().orElse(Long.MAX_VALUE);
        lineage(causes, process, null);
        if (turns.isEmpty()) {
            return none(null, "follows from no call: no call of a model is in the record", causes);
        }
        if (event.atNs() < firstNs) {
            return none(null, "follows from no call: it was before the first", causes);
        }
        return none(
                Grade.X,
                "follows from no call: "
                        + (causes.isOfRuntime(process)
                                ? "the agent's runtime did it while none of its tools was being used"
                                : "no tool was being used at that time"),
                causes);
    }

    private Why none(@Nullable Grade grade, String answer, Causes causes) {
        return new Why(run, index, grade, answer, chain, List.of(), causes.limits());
    }

    /// From a process up to the tool use, the call, and what that was given.
    private void up(Causes causes, ProcessId process, Tie tie) {
        if (tie.exec() >= 0 && tie.exec() != index) {
            lineage(causes, process, tie);
        }
        chain.add(Step.tool(Role.TOOL, tie.tool()));
        chain.add(Step.call(tie.tool().turn));
        given(tie.tool().turn);
    }

    /// The programs from which the event's process descends, up to the one that is tied, or all.
    private void lineage(Causes causes, ProcessId process, @Nullable Tie tie) {
        long untilNs = event.atNs();
        int steps = 0;
        for (ProcessId each : causes.tree.lineage(process)) {
            List<Step> own = programs.getOrDefault(each, List.of());
            Step tied = null;
            Step latest = null;
            for (Step program : own) {
                tied = tie != null && program.event().index() == tie.exec() ? program : tied;
                latest = program.event().atNs() <= untilNs && program.event().index() != index ? program : latest;
            }
            Step shown = tied == null ? latest : tied;
            if (shown != null && (tied != null || steps++ < LINEAGE_MAX)) {
                chain.add(shown);
            }
            if (tied != null) {
                return;
            }
            untilNs = Math.min(untilNs, causes.tree.forkNs(each));
        }
    }

    private void given(ModelTurn turn) {
        ModelTurn at = turn;
        while (true) {
            at.brought.forEach(tool -> chain.add(Step.tool(Role.RESULT, tool)));
            long askedNs = at.exchange.askedNs();
            ModelTurn before = at.brought.stream()
                    .map(tool -> tool.turn)
                    .filter(each -> each.exchange.askedNs() < askedNs)
                    .max(Comparator.comparingLong(each -> each.exchange.askedNs()))
                    .orElse(null);
            if (before == null || depth == Depth.ONE_CALL) {
                return;
            }
            chain.add(Step.call(before));
            at = before;
        }
    }

    private Why why(Causes causes, Tie tie) {
        List<Why.Candidate> candidates = tie.others().stream()
                .map(other -> new Why.Candidate(
                        other.tool().index,
                        other.tool().id,
                        other.tool().name,
                        other.grade(),
                        Step.asked(other.tool())))
                .toList();
        var limits = new ArrayList<String>();
        tie.doubts().forEach(doubt -> limits.add("not surer, because " + doubt));
        limits.addAll(causes.limits());
        return new Why(run, index, tie.grade(), "consistent with " + tie.grade().words(), chain, candidates, limits);
    }
}
