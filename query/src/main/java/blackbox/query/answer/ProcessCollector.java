package blackbox.query.answer;

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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Gathers processes and the programs they executed.
final class ProcessCollector {

    static final int PROGRAMS_MAX = 1_000_000;

    private final Map<ProcessId, Task> processes = new LinkedHashMap<>();
    private final Room room;
    private long unkept;

    private record Program(@Nullable Text exe, @Nullable List<Text> argv) {}

    private static final class Task {
        @Nullable
        Long ppid;

        final List<Program> executed = new ArrayList<>();

        @Nullable
        Text inherited;

        boolean forked;
        boolean moved;

        @Nullable
        Long exitCode;

        @Nullable
        Long signal;

        @Nullable
        Text exe() {
            return executed.isEmpty() ? inherited : executed.getLast().exe;
        }
    }

    ProcessCollector(Room room) {
        this.room = room;
    }

    void see(EventView event) {
        switch (event) {
            case ProcessView.Exec exec -> exec(exec);
            case ProcessView.Fork fork -> fork(fork);
            case ProcessView.Running running -> running(running);
            case ProcessView.Exit exit -> exit(exit);
            case ProcessView.Signal _,
                    ProcessView.Container _,
                    FileView _,
                    NetView _,
                    PrivilegeView _,
                    RecorderView _,
                    VmView _,
                    RunView _,
                    EventView.Unknown _ -> {}
        }
    }

    private void exec(ProcessView.Exec exec) {
        if (exec.failed() || exec.process() == null) {
            return;
        }
        Task process = process(exec);
        if (process == null || process.executed.size() > 0 && !room.take()) {
            unkept++;
            return;
        }
        process.executed.add(new Program(exec.exe(), exec.argv()));
    }

    private void fork(ProcessView.Fork fork) {
        Task process = process(fork);
        if (process == null) {
            return;
        }
        process.forked = true;
        ProcessId parent = fork.parent();
        if (parent != null) {
            Task known = processes.get(parent);
            process.inherited = known == null ? null : known.exe();
        }
    }

    private void running(ProcessView.Running running) {
        Task process = process(running);
        if (process != null && process.executed.isEmpty()) {
            process.inherited = running.exe();
        }
    }

    private void exit(ProcessView.Exit exit) {
        Task process = process(exit);
        if (process != null) {
            process.exitCode = exit.exitCode();
            process.signal = exit.signal();
        }
    }

    /// Whether such a process was seen before.
    boolean knows(ProcessId id) {
        return processes.containsKey(id);
    }

    /// Takes a process that came from elsewhere with the program that it runs.
    ///
    /// @param from who has seen it there
    /// @return whether it came just now
    boolean arrived(ProcessId id, ProcessCollector from) {
        Task there = from.processes.get(id);
        Task known = processes.get(id);
        if (known != null && known.forked && known.inherited == null && there != null) {
            known.inherited = there.inherited; // its parent is elsewhere
        }
        if (there == null || known != null) {
            return false;
        }
        if (!room.take()) {
            unkept++;
            return false;
        }
        var task = new Task();
        task.ppid = there.ppid;
        task.inherited = there.exe();
        task.moved = true;
        processes.put(id, task);
        return true;
    }

    private @Nullable Task process(ProcessView event) {
        ProcessId id = event.process();
        if (id == null) {
            return null;
        }
        Task process = processes.get(id);
        if (process == null) {
            if (!room.take()) {
                unkept++;
                return null;
            }
            process = new Task();
            processes.put(id, process);
        }
        if (event.ppid() != null) {
            process.ppid = event.ppid();
        }
        return process;
    }

    List<Touched.ProgramRun> programs() {
        var runs = new ArrayList<Touched.ProgramRun>();
        processes.forEach((id, process) -> {
            String key = EventJson.processKey(id.pid(), id.startNs());
            var end = new Touched.ProcessEnd(process.exitCode, process.signal);
            for (Program program : process.executed) {
                runs.add(new Touched.ProgramRun(
                        key, id.pid(), process.ppid, program.exe, program.argv, end, false, false));
            }
            if (process.executed.isEmpty()) {
                runs.add(new Touched.ProgramRun(
                        key, id.pid(), process.ppid, process.inherited, null, end, process.forked, process.moved));
            }
        });
        return runs;
    }

    List<String> limits() {
        return unkept == 0
                ? List.of()
                : List.of("only the first " + room.most() + " programs are listed; " + unkept + " events named others");
    }
}
