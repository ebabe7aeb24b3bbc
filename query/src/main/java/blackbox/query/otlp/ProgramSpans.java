package blackbox.query.otlp;

import blackbox.evidence.text.Printable;
import blackbox.query.otlp.RunTrace.Content;
import blackbox.query.why.CallTies;
import blackbox.query.why.Caused;
import blackbox.query.why.Grade;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Makes a span of each program that the agent's processes ran, as OpenTelemetry's conventions for command
/// lines have it: from its start until its process ended or executed another one, below the program of the
/// process that forked its own, or below the tool for which a model asked, where that is known. Owned by
/// one thread.
final class ProgramSpans {

    /// Of one program's arguments.
    private static final int ARGUMENTS_CHARS_MAX = 16_384;

    /// How many processes are known at a time; the guest cannot have as many.
    private static final int PROCESSES_MAX = 1 << 17;

    private final SpanIds ids;
    private final Content content;
    private final long charsMax;
    private final Map<Long, CallTies.Within> tools = new HashMap<>();
    private final long toolsCut;
    private final Map<ProcessId, Program> running = new LinkedHashMap<>();
    private final List<Program> kept = new ArrayList<>();
    private long chars;
    private long unkept;
    private long shown;
    private long outOfTime;
    private long withoutBeginning;
    private long withoutEnd;
    private long withoutProcess;
    private long forgotten;

    /// What a process runs, or what the one that forked it did, if it has executed nothing itself.
    private static final class Program {
        private final ProcessId process;
        private final long index;
        private final long startNs;
        private final String name;
        private final Attributes attributes;
        private @Nullable Program parent;
        private @Nullable Long endNs;
        private Span.@Nullable Failure failed;

        /// The tool below which it is, or what it is below.
        private CallTies.@Nullable Within within;

        Program(
                ProcessId process,
                long index,
                long startNs,
                @Nullable Program parent,
                String name,
                Attributes attributes) {
            this.process = process;
            this.index = index;
            this.startNs = startNs;
            this.parent = parent;
            this.name = name;
            this.attributes = attributes;
        }
    }

    /// @param charsMax about how many characters all spans together have at most
    ProgramSpans(SpanIds ids, CallTies ties, Content content, long charsMax) {
        this.ids = ids;
        this.content = content;
        this.charsMax = charsMax;
        this.toolsCut = ties.tools().values().stream()
                .filter(tool -> tool.effects().leftOff() > 0)
                .count();
        for (Caused.OfTool tool : ties.tools().values()) {
            for (Caused.Program exec : tool.effects().execs()) {
                Grade grade = exec.grade();
                if (grade == Grade.A || grade == Grade.B) {
                    tools.putIfAbsent(
                            exec.index(), new CallTies.Within(tool.used().index(), grade));
                }
            }
        }
    }

    /// Takes the next event.
    void see(EventView event, long index) {
        ProcessId process = event.process();
        if (event.failed()) {
            return;
        }
        if (process == null) {
            withoutProcess += event instanceof ProcessView.Exec ? 1 : 0;
            return;
        }
        switch (event) {
            case ProcessView.Fork fork -> fork(process, fork.parent());
            case ProcessView.Exec exec -> exec(process, exec, index);
            case ProcessView.Exit exit -> exit(process, exit);
            default -> {}
        }
    }

    private void fork(ProcessId child, @Nullable ProcessId parent) {
        Program program = parent == null ? null : running.get(parent);
        Program own = own(child);
        if (own != null) {
            own.parent = own.parent == null ? program : own.parent; // told after what it executed
        } else if (program != null) {
            know(child, program);
        }
    }

    /// What a process executed itself and runs.
    private @Nullable Program own(ProcessId process) {
        Program program = running.get(process);
        return program != null && program.process.equals(process) ? program : null;
    }

    private void know(ProcessId process, Program program) {
        running.put(process, program);
        if (running.size() > PROCESSES_MAX) {
            running.remove(running.keySet().iterator().next());
            forgotten++;
        }
    }

    private void exec(ProcessId process, ProcessView.Exec exec, long index) {
        Program own = own(process);
        Program parent = own == null ? running.get(process) : own.parent;
        if (own != null) {
            end(own, exec.atNs(), "exec");
        }
        // Until it is kept: what it starts is below what started it.
        if (parent == null || exec.isBySupervisor()) {
            running.remove(process);
        } else {
            running.put(process, parent);
        }
        if (exec.isBySupervisor()) {
            return;
        }
        if (exec.atNs() < 0) {
            withoutBeginning++;
            return;
        }
        if (kept.size() >= CallSpans.EACH_MAX) {
            unkept++;
            return;
        }
        Attributes attributes = attributes(process, exec, index);
        if (chars + attributes.chars() > charsMax) {
            unkept++;
            return;
        }
        String name = name(exec);
        var program = new Program(
                process,
                index,
                exec.atNs(),
                parent,
                Printable.of(name == null || name.isEmpty() ? "program" : name, CallSpans.NAME_CHARS_MAX),
                attributes);
        chars += attributes.chars();
        kept.add(program);
        know(process, program);
    }

    private static @Nullable String name(ProcessView.Exec exec) {
        Text path = exec.exe();
        return path == null ? null : path.toString().substring(path.toString().lastIndexOf('/') + 1);
    }

    private Attributes attributes(ProcessId process, ProcessView.Exec exec, long index) {
        Text path = exec.exe();
        Attributes attributes = ids.event(index, Kind.PROCESS_EXEC)
                .put("process.pid", process.pid())
                .put("process.parent_pid", exec.ppid())
                .put("process.executable.name", name(exec))
                .put("process.executable.path", path == null ? null : path.toString());
        List<Text> argv = exec.argv();
        if (content == Content.INCLUDED && argv != null) {
            var arguments = new ArrayList<String>();
            long room = ARGUMENTS_CHARS_MAX;
            for (Text each : argv) {
                String argument = each.toString();
                room -= Attributes.AROUND_CHARS + argument.length();
                if (room < 0) {
                    break;
                }
                arguments.add(argument);
            }
            boolean isCut = arguments.size() < argv.size()
                    || exec.truncated().stream().anyMatch(cut -> cut.toString().startsWith("argv="));
            attributes
                    .putTexts("process.command_args", arguments)
                    .put("blackbox.program.arguments_truncated", isCut ? true : null);
        }
        return attributes;
    }

    private void exit(ProcessId process, ProcessView.Exit exit) {
        Program program = running.remove(process);
        if (program == null || !program.process.equals(process)) {
            return;
        }
        Long signal = exit.signal();
        Long code = exit.exitCode();
        boolean killed = signal != null && signal != 0;
        if (killed) {
            program.failed = new Span.Failure("signal_" + signal, null);
        } else if (code != null && code != 0) {
            program.failed = new Span.Failure("exit_" + code, null);
        }
        program.attributes.put("process.exit.code", killed ? null : code);
        end(program, exit.atNs(), killed ? "signal" : "exit");
    }

    private static void end(Program program, long atNs, String how) {
        program.endNs = atNs;
        program.attributes.put("blackbox.program.ended", how);
    }

    /// The spans, in the order of their events; those below nothing that is known are below `root`.
    ///
    /// @param calls the ids of other spans
    /// @param lastNs when the record ends, as the host saw it
    List<Span> below(@Nullable Span root, Set<String> calls, long lastNs) {
        kept.sort(Comparator.comparingLong(program -> program.index));
        var spans = new ArrayList<Span>();
        var there = new HashSet<Program>();
        for (Program program : kept) {
            Long end = program.endNs;
            if (end == null) {
                withoutEnd++;
                end(program, Math.max(program.startNs, lastNs), "not-recorded");
                end = program.endNs;
            }
            if (end == null || end < program.startNs) {
                outOfTime++;
                continue;
            }
            there.add(program);
            spans.add(new Span(
                    ids.span(program.index),
                    parent(program, root, calls, there),
                    program.name,
                    Span.Kind.INTERNAL,
                    program.startNs,
                    end,
                    new Span.Details(
                            program.failed == null
                                    ? program.attributes
                                    : program.attributes.put("error.type", program.failed.type()),
                            List.of(),
                            List.of(),
                            program.failed)));
        }
        shown = spans.size();
        return spans;
    }

    /// A program that a tool asked for is below the tool, unless it is below another one of that tool's.
    private @Nullable String parent(Program program, @Nullable Span root, Set<String> calls, Set<Program> there) {
        Program parent = program.parent;
        while (parent != null && !there.contains(parent)) {
            parent = parent.parent;
        }
        CallTies.Within above = parent == null ? null : parent.within;
        CallTies.Within tied = tools.get(program.index);
        if (tied != null && !calls.contains(ids.span(tied.tool()))) {
            tied = null;
        }
        program.within = tied != null ? tied : above;
        if (program.within != null) {
            program.attributes
                    .put("blackbox.within.event", program.within.tool())
                    .put("blackbox.within.grade", program.within.grade().name());
        }
        if (tied != null && (above == null || above.tool() != tied.tool())) {
            return ids.span(tied.tool());
        }
        return parent != null ? ids.span(parent.index) : root == null ? null : root.id();
    }

    /// How many there are.
    long count() {
        return shown;
    }

    /// How many programs should have a span and have none.
    long leftOut() {
        return unkept + outOfTime + withoutBeginning + withoutProcess;
    }

    /// What may be missing, in sentences, once [#below] has been called.
    List<String> limits() {
        var limits = new ArrayList<String>();
        if (withoutEnd > 0) {
            limits.add("the end of " + withoutEnd
                    + " programs is not known: their spans last until the end of the record");
        }
        if (outOfTime > 0) {
            limits.add(outOfTime + " programs have no span, because the record says that they ended before they began");
        }
        if (withoutBeginning > 0) {
            limits.add(withoutBeginning + " programs have no span, because the record does not say when they began");
        }
        if (withoutProcess > 0) {
            limits.add(
                    withoutProcess + " programs have no span, because the record does not say which process ran them");
        }
        if (toolsCut > 0 && shown > 0) {
            limits.add("of " + toolsCut + " tools only the first programs are tied to them; others are below whatever"
                    + " started them");
        }
        if (unkept > 0) {
            limits.add(unkept + " programs have no span, because at most " + CallSpans.EACH_MAX + " and about "
                    + (charsMax >> 20) + " million characters of them are exported");
        }
        if (forgotten > 0) {
            limits.add(
                    "of " + forgotten + " processes it was forgotten what they ran, as there were too many at a time");
        }
        return limits;
    }
}
