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

    private static final int NAME_CHARS_MAX = 128;

    /// How many processes are known at a time; the guest cannot have as many.
    private static final int PROCESSES_MAX = 1 << 17;

    private final SpanIds ids;
    private final Content content;
    private final long charsMax;
    private final Map<Long, CallTies.Within> tools = new HashMap<>();
    private final Map<ProcessId, Program> running = new LinkedHashMap<>();
    private final List<Program> kept = new ArrayList<>();
    private long chars;
    private long unkept;
    private long shown;
    private long outOfTime;
    private long withoutEnd;
    private long forgotten;

    /// What a process runs, or what the one that forked it did, if it has executed nothing itself.
    private static final class Program {
        private final ProcessId process;
        private final long index;
        private final long startNs;
        private final @Nullable Program parent;
        private final String name;
        private final Attributes attributes;
        private @Nullable Long endNs;
        private Span.@Nullable Failure failed;

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
        if (process == null || event.failed()) {
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
        if (program != null) {
            know(child, program);
        }
    }

    private void know(ProcessId process, Program program) {
        running.put(process, program);
        if (running.size() > PROCESSES_MAX) {
            running.remove(running.keySet().iterator().next());
            forgotten++;
        }
    }

    private void exec(ProcessId process, ProcessView.Exec exec, long index) {
        Program before = running.get(process);
        Program own = before != null && before.process.equals(process) ? before : null;
        if (own != null) {
            end(own, exec.atNs(), "exec");
        }
        if (exec.isBySupervisor()) {
            Program unused = running.remove(process);
            return;
        }
        String path = exec.exe() == null ? null : exec.exe().toString();
        String name = path == null ? null : path.substring(path.lastIndexOf('/') + 1);
        Attributes attributes = new Attributes()
                .put("blackbox.run", ids.run().value())
                .put("blackbox.event.index", index)
                .put("blackbox.event.kind", Kind.PROCESS_EXEC.eventName())
                .put("process.pid", process.pid())
                .put("process.parent_pid", exec.ppid())
                .put("process.executable.name", name)
                .put("process.executable.path", path);
        List<Text> argv = exec.argv();
        if (content == Content.INCLUDED && argv != null) {
            attributes.putTexts(
                    "process.command_args", argv.stream().map(Text::toString).toList());
        }
        boolean isFull = kept.size() >= CallSpans.EACH_MAX || chars + attributes.chars() > charsMax;
        if (isFull || exec.atNs() < 0) {
            unkept += isFull ? 1 : 0;
            outOfTime += isFull ? 0 : 1;
            return; // what it starts is below what started it
        }
        var program = new Program(
                process,
                index,
                exec.atNs(),
                own != null ? own.parent : before,
                Printable.of(name == null || name.isEmpty() ? "program" : name, NAME_CHARS_MAX),
                attributes);
        chars += attributes.chars();
        kept.add(program);
        know(process, program);
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

    private @Nullable String parent(Program program, @Nullable Span root, Set<String> calls, Set<Program> there) {
        CallTies.Within within = tools.get(program.index);
        if (within != null && calls.contains(ids.span(within.tool()))) {
            program.attributes
                    .put("blackbox.within.event", within.tool())
                    .put("blackbox.within.grade", within.grade().name());
            return ids.span(within.tool());
        }
        Program parent = program.parent;
        while (parent != null && !there.contains(parent)) {
            parent = parent.parent;
        }
        return parent != null ? ids.span(parent.index) : root == null ? null : root.id();
    }

    /// How many there are.
    long count() {
        return shown;
    }

    /// How many programs should have a span and have none.
    long leftOut() {
        return unkept + outOfTime;
    }

    /// What may be missing, in sentences, once [#below] has been called.
    List<String> limits() {
        var limits = new ArrayList<String>();
        if (withoutEnd > 0) {
            limits.add("the end of " + withoutEnd + " programs is not in the record: their spans last until its end");
        }
        if (outOfTime > 0) {
            limits.add(outOfTime + " programs have no span, because the record says that they ended before they began");
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
