package blackbox.query.answer;

import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.FileView;
import blackbox.schemas.view.NetView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Which program each process runs, and in which directory it began. Bounded: the process whose last event is
/// oldest is forgotten first. Owned by one thread.
public final class Programs {

    private static final int PROCESSES_MAX = 65_536;

    private record Running(
            @Nullable Text exe,
            @Nullable String name,
            @Nullable String cwd) {
        static Running of(@Nullable Text exe, @Nullable String cwd) {
            return new Running(exe, lastName(exe), cwd);
        }
    }

    private final Map<ProcessId, Running> running = new LinkedHashMap<>(1024, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<ProcessId, Running> eldest) {
            return size() > PROCESSES_MAX;
        }
    };

    /// Takes the next event of a process.
    public void see(ProcessView event) {
        ProcessId id = event.process();
        if (id == null || event.failed()) {
            return;
        }
        switch (event) {
            case ProcessView.Exec exec -> running.put(id, Running.of(exec.exe(), cwd(exec)));
            case ProcessView.Running before -> running.put(id, Running.of(before.exe(), null));
            case ProcessView.Fork fork -> {
                ProcessId parent = fork.parent();
                Running known = parent == null ? null : running.get(parent);
                if (known != null) {
                    running.put(id, known);
                }
            }
            case ProcessView.Exit _, ProcessView.Signal _, ProcessView.Container _ -> {}
        }
    }

    /// Takes the beginning of a connection, at which the kernel says what the process runs: also where the
    /// record of what was executed has gaps, and of one that was made by another process than its parent.
    public void see(NetView.Syn event) {
        ProcessId id = event.process();
        Text exe = event.exe();
        Running known = id == null ? null : running.get(id);
        boolean cut =
                event.truncated().stream().anyMatch(mark -> mark.toString().startsWith("exe="));
        if (id != null && exe != null && !cut && (known == null || !Objects.equals(exe, known.exe()))) {
            running.put(id, Running.of(exe, null));
        }
    }

    private static @Nullable String cwd(ProcessView.Exec exec) {
        return exec.row().has(Column.CWD) ? exec.row().text(Column.CWD).toString() : null;
    }

    /// The last part of a program's path.
    public static @Nullable String lastName(@Nullable Text exe) {
        if (exe == null) {
            return null;
        }
        String path = exe.toString();
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /// The name of the program whose act an event is; the task's name where the program is not known.
    public @Nullable String name(EventView event) {
        Running known = known(event);
        if (known != null && known.name() != null) {
            return known.name();
        }
        Text comm = event.comm();
        return comm == null ? null : comm.toString();
    }

    /// The same with the process's number: `cat (139)`.
    public @Nullable String who(EventView event) {
        ProcessId id = event.process();
        String name = name(event);
        return id == null ? name : (name == null ? "?" : name) + " (" + id.pid() + ")";
    }

    /// The path of the program whose act an event is; null if it is not known.
    public @Nullable Text exe(EventView event) {
        Running known = known(event);
        return known == null ? null : known.exe();
    }

    /// The path of the program that a process runs; null if it is not known.
    public @Nullable Text exe(ProcessId id) {
        Running known = running.get(id);
        return known == null ? null : known.exe();
    }

    /// A path that a call named, made absolute by the directory in which its program began; unchanged if that
    /// is not known.
    public String absolute(EventView event, String path) {
        Running known = known(event);
        String cwd = known == null ? null : known.cwd();
        if (cwd == null || FileView.isFile(path)) {
            return path;
        }
        String relative = path.startsWith("./") ? path.substring(2) : path;
        return cwd.endsWith("/") ? cwd + relative : cwd + "/" + relative;
    }

    private @Nullable Running known(EventView event) {
        ProcessId id = event.process();
        return id == null ? null : running.get(id);
    }
}
