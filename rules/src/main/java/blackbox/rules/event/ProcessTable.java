package blackbox.rules.event;

import blackbox.schemas.row.Text;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// What each process runs, and what the one ran that started it, as of the process's own last start of a program. It
/// changes by events of processes only, so whoever reads no others comes to the same. Bounded: the process that
/// changed longest ago is forgotten first. Owned by one thread.
public final class ProcessTable {

    private static final int PROCESSES_MAX = 65_536;

    /// Of images and command lines, characters.
    private static final long TEXT_MAX = 16 << 20;

    /// What a process takes besides, in the same unit.
    private static final long EACH = 100;

    /// A process.
    ///
    /// @param parent what the process ran that started it, when this one began or executed its program
    public record Entry(Program program, Program parent) {
        public static final Entry UNKNOWN = new Entry(Program.UNKNOWN, Program.UNKNOWN);
    }

    private record Known(Entry entry, @Nullable ProcessId parent) {}

    private final Weighed<ProcessId, Known> processes;
    private final Map<Long, ProcessId> latest = new HashMap<>();
    private long programs;

    public ProcessTable() {
        this(_ -> {});
    }

    /// @param forgotten is told which process nothing is known of any more
    public ProcessTable(Consumer<ProcessId> forgotten) {
        processes = new Weighed<>(PROCESSES_MAX, TEXT_MAX, id -> {
            latest.remove(id.pid(), id);
            forgotten.accept(id);
        });
    }

    /// Takes the next event of a process.
    ///
    /// @return what it now is, if that changed
    public @Nullable Entry see(ProcessView event) {
        ProcessId id = event.process();
        if (id == null || event.failed()) {
            return null;
        }
        return switch (event) {
            case ProcessView.Fork fork -> {
                ProcessId parent = parent(fork.parent(), fork.ppid());
                Program program = program(parent);
                yield put(id, new Known(new Entry(program, program), parent));
            }
            case ProcessView.Exec exec -> {
                ProcessId parent = parent(id, exec.ppid(), processes.get(id));
                yield put(id, new Known(new Entry(of(exec.exe(), exec.argv()), program(parent)), parent));
            }
            case ProcessView.Running before -> {
                ProcessId parent = parent(id, before.ppid(), processes.get(id));
                yield put(id, new Known(new Entry(of(before.exe(), null), program(parent)), parent));
            }
            case ProcessView.Exit _, ProcessView.Signal _, ProcessView.Container _ -> null;
        };
    }

    private Entry put(ProcessId id, Known known) {
        processes.put(
                id,
                known,
                EACH + weight(known.entry().program()) + weight(known.entry().parent()));
        latest.put(id.pid(), id);
        return known.entry();
    }

    private static long weight(Program program) {
        return weight(program.image()) + weight(program.commandLine());
    }

    private static long weight(@Nullable String text) {
        return text == null ? 0 : text.length();
    }

    private Program of(@Nullable Text exe, @Nullable List<Text> argv) {
        return new Program(++programs, exe == null ? null : exe.toString(), argv == null ? null : joined(argv));
    }

    /// Texts with a space between two.
    static String joined(List<Text> texts) {
        return texts.stream().map(Text::toString).collect(Collectors.joining(" "));
    }

    /// The one that is known from its fork; else the last that had the number.
    private @Nullable ProcessId parent(ProcessId id, @Nullable Long ppid, @Nullable Known known) {
        ProcessId parent = known == null ? null : known.parent();
        ProcessId found = parent(parent, ppid);
        return id.equals(found) ? null : found;
    }

    private @Nullable ProcessId parent(@Nullable ProcessId told, @Nullable Long ppid) {
        return told != null || ppid == null ? told : latest.get(ppid);
    }

    private Program program(@Nullable ProcessId id) {
        Known known = id == null ? null : processes.get(id);
        return known == null ? Program.UNKNOWN : known.entry().program();
    }

    /// What is known of a process.
    public Entry of(@Nullable ProcessId id) {
        Known known = id == null ? null : processes.get(id);
        return known == null ? Entry.UNKNOWN : known.entry();
    }
}
