package blackbox.query.why;

import blackbox.query.why.Wanted.Fit;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Which program's start followed from which tool use. Those that began while a tool was being used are
/// gathered, and when all are there they are settled in the order of time, since events of several CPUs are
/// not always in order. Owned by one thread.
final class ExecTies {

    static final int KEPT_MAX = 100_000;

    /// Of programs that start one another before the one that was asked for.
    private static final int WRAPPERS_MAX = 32;

    private final ProcessTree tree;
    private final OpenTools open;
    private final Certainty certainty;
    private final List<Start> starts = new ArrayList<>();

    /// Those that are tied by themselves, in the order of time.
    private final Map<ProcessId, List<Start>> tied = new HashMap<>();

    private final Map<ToolUse, List<Start>> verbatim = new HashMap<>();
    private long unkept;

    /// A program's start.
    private static final class Start {
        final long index;
        final long atNs;
        final ProcessId process;

        /// The process that asked for what is open, from which it descends; null if from none.
        final @Nullable ProcessId root;

        final List<ToolUse> open;
        final List<ToolUse> exact = new ArrayList<>();
        final List<ToolUse> close = new ArrayList<>();

        @Nullable
        ToolUse tool;

        boolean isVerbatim;

        /// Whether it also descends from what another tool use started.
        boolean isContested;

        /// Whether what it started was asked for.
        boolean startedWhatFits;

        Start(long index, long atNs, ProcessId process, @Nullable ProcessId root, List<ToolUse> open) {
            this.index = index;
            this.atNs = atNs;
            this.process = process;
            this.root = root;
            this.open = open;
        }

        List<ToolUse> fitting() {
            return exact.isEmpty() ? close : exact;
        }
    }

    ExecTies(ProcessTree tree, OpenTools open, Certainty certainty) {
        this.tree = tree;
        this.open = open;
        this.certainty = certainty;
    }

    /// Takes the start of a program by an agent's process.
    void see(ProcessView.Exec exec, long index) {
        ProcessId process = exec.process();
        if (process == null || exec.failed() || exec.isBySupervisor()) {
            return;
        }
        List<ProcessId> roots =
                tree.lineage(process).stream().skip(1).filter(open::isRoot).toList();
        ProcessId root = roots.stream()
                .filter(each -> !open.at(each, exec.atNs()).isEmpty())
                .findFirst()
                .orElse(null);
        if (root == null && !roots.isEmpty()) {
            return; // of a runtime, but none of its tools was being used
        }
        List<ToolUse> tools = open.at(root, exec.atNs());
        if (tools.isEmpty()) {
            return;
        }
        if (starts.size() >= KEPT_MAX) {
            unkept++;
            return;
        }
        var start = new Start(index, exec.atNs(), process, root, tools);
        compare(start, exec);
        if (root == null && start.fitting().isEmpty()) {
            return; // only the time speaks for it, as for all that happened then
        }
        starts.add(start);
    }

    private static void compare(Start start, ProcessView.Exec exec) {
        List<Text> said = exec.argv();
        if (said == null) {
            return;
        }
        List<String> argv = said.stream().map(Text::toString).toList();
        List<String> unwrapped = Harness.commands(argv);
        boolean cut = exec.truncated().stream().anyMatch(mark -> mark.toString().startsWith("argv="))
                || exec.unread().stream().anyMatch(mark -> mark.toString().equals("argv"));
        for (ToolUse tool : start.open) {
            Fit fit = tool.wanted.program(argv, unwrapped, cut);
            if (fit != Fit.NONE) {
                (fit == Fit.EXACT ? start.exact : start.close).add(tool);
            }
        }
    }

    /// Decides. To be called once, after all starts.
    void settle() {
        Comparator<Start> byTime = Comparator.comparingLong(start -> start.atNs);
        byTime = byTime.thenComparingLong(start -> start.index);
        starts.sort(byTime);
        var contested = new ArrayList<Start>();
        for (Start start : starts) {
            Start above = above(start);
            if (above != null && above.isVerbatim) {
                ToolUse from = above.tool;
                boolean still = from != null && from.window.holds(start.atNs, certainty.tolerance());
                if (!still && !start.fitting().isEmpty()) {
                    contested.add(start);
                }
            } else if (!start.fitting().isEmpty() && start.root != null) {
                take(start);
                prefer(start);
            } else if (above == null || !above.open.containsAll(start.open)) {
                tie(start, start.open.getFirst());
                if (above != null && above.tool != null && !start.open.contains(above.tool)) {
                    start.open.add(above.tool); // which may have left it running
                }
            }
        }
        // What one tool use has left running may do what another one asks for; it is only believed where nothing else
        // did it.
        for (Start start : contested) {
            if (start.root != null && start.fitting().stream().noneMatch(verbatim::containsKey)) {
                start.isContested = true;
                take(start);
            }
        }
        Comparator<Start> order = byTime;
        tied.values().forEach(each -> each.sort(order));
        starts.stream().filter(start -> start.tool != null && !start.isVerbatim).forEach(this::chooseByTime);
    }

    private void tie(Start start, ToolUse tool) {
        start.tool = tool;
        tied.computeIfAbsent(start.process, _ -> new ArrayList<>(1)).add(start);
    }

    private void take(Start start) {
        List<ToolUse> fitting = start.fitting();
        ToolUse tool = fitting.stream()
                .filter(each -> !verbatim.containsKey(each))
                .findFirst()
                .orElse(fitting.getFirst());
        tie(start, tool);
        start.isVerbatim = true;
        verbatim.computeIfAbsent(tool, _ -> new ArrayList<>(1)).add(start);
    }

    /// What started a program that was asked for was started for it.
    private void prefer(Start start) {
        Start above = above(start);
        for (int i = 0; i < WRAPPERS_MAX && above != null && !above.isVerbatim; i++) {
            if (start.tool != null && above.open.contains(start.tool)) {
                above.tool = start.tool;
                above.startedWhatFits = true;
            }
            above = above(above);
        }
    }

    /// Which of those that were open, where only the time speaks: one that asked for it, or one of which
    /// nothing else is known and that is not about files or URLs only, rather than another.
    private void chooseByTime(Start start) {
        if (start.startedWhatFits) {
            return;
        }
        List<ToolUse> of = start.fitting().isEmpty() ? start.open : start.fitting();
        List<ToolUse> programs =
                of.stream().filter(each -> !each.wanted.isWithoutPrograms()).toList();
        start.tool = programs.stream()
                .filter(each -> !verbatim.containsKey(each))
                .findFirst()
                .orElse(programs.isEmpty() ? of.getFirst() : programs.getFirst());
    }

    /// The nearest start before it, in its own process or one from which it descends below its root, that
    /// is tied by itself.
    private @Nullable Start above(Start start) {
        long untilNs = start.atNs;
        for (ProcessId process : tree.lineage(start.process)) {
            if (process.equals(start.root)) {
                return null;
            }
            List<Start> own = tied.getOrDefault(process, List.of());
            for (int i = own.size() - 1; i >= 0; i--) {
                Start each = own.get(i);
                if (each != start && each.atNs <= untilNs) {
                    return each;
                }
            }
            untilNs = Math.min(untilNs, tree.forkNs(process));
        }
        return null;
    }

    /// What the process was tied to by its own programs' starts; null if by none.
    ///
    /// @param untilNs of those up to then; if all are later, of the first, for which the process was made
    /// @param atNs when what is asked about was: of what only its time ties, nothing later is tied
    @Nullable
    Tie tie(ProcessId process, long untilNs, long atNs) {
        Start found = null;
        for (Start each : tied.getOrDefault(process, List.of())) {
            if (each.root == null && !isOpen(each, atNs)) {
                continue;
            }
            if (each.atNs <= untilNs || found == null && isOpen(each, untilNs)) {
                found = each;
            }
        }
        return found == null ? null : tie(found);
    }

    private boolean isOpen(Start start, long atNs) {
        return start.tool != null && start.tool.window.holds(atNs, certainty.tolerance());
    }

    private Tie tie(Start start) {
        ToolUse tool = start.tool;
        if (tool == null) {
            throw new IllegalStateException("event " + start.index + " is not tied");
        }
        var doubts = new ArrayList<>(certainty.doubts(tool, start.index));
        List<Start> all = verbatim.getOrDefault(tool, List.of());
        if (!start.isVerbatim) {
            return new Tie(tool, byTime(start, tool), start.index, othersByTime(start, tool), doubts);
        }
        if (all.size() > 1) {
            doubts.add(all.size() + " programs were started that it may have asked for");
        }
        if (start.fitting().size() > 1) {
            doubts.add("several tool uses asked for it at that time");
        }
        if (start.exact.isEmpty()) {
            doubts.add("its arguments could be compared in part only");
        }
        if (start.isContested) {
            doubts.add("the process also descends from what an earlier tool use started");
        }
        Grade grade = doubts.isEmpty() ? Grade.A : Grade.B;
        List<Tie.Other> others = start.fitting().stream()
                .filter(each -> each != tool)
                .map(each -> new Tie.Other(each, Grade.B))
                .toList();
        return new Tie(tool, grade, start.index, others, doubts);
    }

    private static Grade byTime(Start start, ToolUse tool) {
        return start.root != null && tool.window.end() == Window.End.RESULT ? Grade.C : Grade.D;
    }

    private static List<Tie.Other> othersByTime(Start start, ToolUse but) {
        return start.open.stream()
                .filter(each -> each != but)
                .map(each -> new Tie.Other(each, byTime(start, each)))
                .toList();
    }

    /// What may be missing, in sentences.
    List<String> limits() {
        return unkept == 0
                ? List.of()
                : List.of(
                        "only the first " + KEPT_MAX + " programs that were started while tools were used are followed;"
                                + " there are " + unkept + " more");
    }
}
