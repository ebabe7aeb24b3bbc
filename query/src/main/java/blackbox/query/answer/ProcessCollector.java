package blackbox.query.answer;

import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Gathers processes and the programs they executed.
final class ProcessCollector {

    private static final int PROGRAMS_MAX = 1_000_000;

    private final Map<String, Task> processes = new LinkedHashMap<>();
    private long programs;
    private long unkept;

    private record Program(@Nullable Text exe, @Nullable List<Text> argv) {}

    private static final class Task {
        final long pid;

        @Nullable
        Long ppid;

        final List<Program> executed = new ArrayList<>();

        @Nullable
        Text inherited;

        boolean forked;

        @Nullable
        Long exitCode;

        @Nullable
        Long signal;

        Task(long pid) {
            this.pid = pid;
        }

        @Nullable
        Text exe() {
            return executed.isEmpty() ? inherited : executed.getLast().exe;
        }
    }

    void see(Kind kind, Row row) {
        if (!row.has(Column.PID) || !row.has(Column.START_NS)) {
            return;
        }
        switch (kind) {
            case PROCESS_EXEC -> exec(row);
            case PROCESS_FORK -> fork(row);
            case PROCESS_RUNNING -> running(row);
            case PROCESS_EXIT -> exit(row);
            default -> {}
        }
    }

    private void exec(Row row) {
        if (row.has(Column.RET) && row.number(Column.RET) < 0) {
            return;
        }
        Task process = process(row);
        if (process == null || ++programs > PROGRAMS_MAX) {
            unkept++;
            return;
        }
        Text exe = row.has(Column.EXE) ? row.text(Column.EXE) : null;
        process.executed.add(new Program(exe, row.has(Column.ARGV) ? row.list(Column.ARGV) : null));
    }

    private void fork(Row row) {
        Task process = process(row);
        if (process == null) {
            return;
        }
        process.forked = true;
        if (row.has(Column.PPID) && row.has(Column.PARENT_START_NS)) {
            Task parent =
                    processes.get(EventJson.processKey(row.number(Column.PPID), row.number(Column.PARENT_START_NS)));
            process.inherited = parent == null ? null : parent.exe();
        }
    }

    private void running(Row row) {
        Task process = process(row);
        if (process != null && process.executed.isEmpty()) {
            process.inherited = row.has(Column.EXE) ? row.text(Column.EXE) : null;
        }
    }

    private void exit(Row row) {
        Task process = process(row);
        if (process != null) {
            process.exitCode = row.has(Column.EXIT_CODE) ? Long.valueOf(row.number(Column.EXIT_CODE)) : null;
            process.signal = row.has(Column.SIGNAL) ? Long.valueOf(row.number(Column.SIGNAL)) : null;
        }
    }

    private @Nullable Task process(Row row) {
        String key = EventJson.processKey(row.number(Column.PID), row.number(Column.START_NS));
        Task process = processes.get(key);
        if (process == null) {
            if (processes.size() >= PROGRAMS_MAX) {
                unkept++;
                return null;
            }
            process = new Task(row.number(Column.PID));
            processes.put(key, process);
        }
        if (row.has(Column.PPID)) {
            process.ppid = row.number(Column.PPID);
        }
        return process;
    }

    List<Touched.ProgramRun> programs() {
        var runs = new ArrayList<Touched.ProgramRun>();
        processes.forEach((key, process) -> {
            var end = new Touched.ProcessEnd(process.exitCode, process.signal);
            for (Program program : process.executed) {
                runs.add(new Touched.ProgramRun(key, process.pid, process.ppid, program.exe, program.argv, end, false));
            }
            if (process.executed.isEmpty()) {
                runs.add(new Touched.ProgramRun(
                        key, process.pid, process.ppid, process.inherited, null, end, process.forked));
            }
        });
        return runs;
    }

    List<String> limits() {
        return unkept == 0
                ? List.of()
                : List.of(
                        "only the first " + PROGRAMS_MAX + " programs are listed; " + unkept + " events named others");
    }
}
