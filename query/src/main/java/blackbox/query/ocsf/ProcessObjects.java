package blackbox.query.ocsf;

import blackbox.query.answer.EventJson;
import blackbox.query.answer.Programs;
import blackbox.query.ocsf.OcsfClass.Activity;
import blackbox.query.run.RunFacts;
import blackbox.schemas.RunId;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import blackbox.schemas.view.EventView;
import blackbox.schemas.view.PrivilegeView;
import blackbox.schemas.view.ProcessId;
import blackbox.schemas.view.ProcessView;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Processes as OCSF has them, and what they do to each other. A process's `uid` is `PID@START`, which no other
/// of the run has. Owned by one thread.
final class ProcessObjects {

    private static final Activity LAUNCH = new Activity(1, "Launch");
    private static final Activity TERMINATE = new Activity(2, "Terminate");
    private static final Activity SET_USER_ID = new Activity(5, "Set User ID");
    private static final int FORK = 2;
    private static final int EXEC = 3;
    private static final int REGULAR_FILE = 1;

    private final RunId run;
    private final Programs programs;

    ProcessObjects(RunId run, Programs programs) {
        this.run = run;
        this.programs = programs;
    }

    Draft draft(ProcessView event) {
        return switch (event) {
            case ProcessView.Exec exec -> executed(exec);
            case ProcessView.Fork fork -> forked(fork);
            case ProcessView.Exit exit ->
                Draft.of(OcsfClass.PROCESS, TERMINATE, ofItself(event).put("exit_code", exit.exitCode()));
            case ProcessView.Running running ->
                Draft.of(
                        OcsfClass.PROCESS,
                        Activity.other("Already running"),
                        new Fields()
                                .put("actor", actor(event))
                                .put("process", executable(process(event), running.exe())));
            case ProcessView.Signal signal -> signalled(signal);
            case ProcessView.Container _ ->
                Draft.of(OcsfClass.PROCESS, Activity.other("Enter Container"), ofItself(event));
        };
    }

    Draft draft(PrivilegeView event) {
        return switch (event) {
            case PrivilegeView.Credentials change ->
                Draft.of(
                        OcsfClass.PROCESS,
                        change.uidTo() == null ? Activity.other("Change Credentials") : SET_USER_ID,
                        ofItself(event));
            case PrivilegeView.Use use ->
                Draft.of(OcsfClass.PROCESS, Activity.other("Privileged: " + use.what()), ofItself(event));
        };
    }

    /// The actor is the process with the program that it ran before; its user may have changed with the new
    /// one.
    private Draft executed(ProcessView.Exec exec) {
        List<Text> argv = exec.argv();
        Row row = exec.row();
        ProcessId id = exec.process();
        Fields started = executable(process(exec), exec.exe())
                .put(
                        "cmd_line",
                        argv == null ? null : argv.stream().map(Text::toString).collect(Collectors.joining(" ")))
                .put("working_directory", row.has(Column.CWD) ? row.text(Column.CWD) : null);
        return Draft.of(
                OcsfClass.PROCESS,
                LAUNCH,
                new Fields()
                        .put("actor", new Fields().put("process", id == null ? new Fields() : known(id)))
                        .put("process", started)
                        .put("launch_type_id", EXEC));
    }

    private Draft forked(ProcessView.Fork fork) {
        ProcessId parent = fork.parent();
        Fields actor = parent == null ? actor(fork) : new Fields().put("process", known(parent));
        return Draft.of(
                OcsfClass.PROCESS,
                LAUNCH,
                new Fields()
                        .put("actor", actor)
                        .put("process", executable(process(fork), parent == null ? null : programs.exe(parent)))
                        .put("launch_type_id", FORK));
    }

    /// `process` is the one to which the signal was sent. Where the kernel sent it, the actor is only in whose
    /// call.
    private Draft signalled(ProcessView.Signal signal) {
        JsonNode detail = RunFacts.detailOf(signal.row());
        JsonNode pid = detail.path("pid");
        JsonNode startNs = detail.path("startNs");
        if (!pid.canConvertToInt() || !startNs.canConvertToLong()) {
            return Draft.of(OcsfClass.PROCESS, Activity.other("Send Signal"), ofItself(signal));
        }
        boolean byKernel = detail.path("by").asText().equals("kernel");
        return Draft.of(
                OcsfClass.PROCESS,
                Activity.other(byKernel ? "Signal of the Kernel" : "Send Signal"),
                new Fields()
                        .put("actor", byKernel ? new Fields().put("app_name", "kernel") : actor(signal))
                        .put(
                                "process",
                                known(new ProcessId(pid.longValue(), startNs.longValue()))
                                        .put("name", detail.path("name").textValue())));
    }

    /// A process by what was seen of it before.
    private Fields known(ProcessId id) {
        Text exe = programs.exe(id);
        return executable(identity(id).put("name", Programs.lastName(exe)), exe);
    }

    private Fields ofItself(EventView event) {
        return new Fields().put("actor", actor(event)).put("process", running(event));
    }

    /// Who did it. Of what the host saw, all that is known is that it was somebody in the run's machine.
    Fields actor(EventView event) {
        return event.process() == null
                ? new Fields().put("app_name", "agent").put("app_uid", run.value())
                : new Fields().put("process", running(event));
    }

    /// The process with the program that it ran when it did this.
    private Fields running(EventView event) {
        return executable(process(event), programs.exe(event));
    }

    private static Fields executable(Fields process, @Nullable Text exe) {
        if (exe == null) {
            return process;
        }
        return process.put("path", exe)
                .put(
                        "file",
                        new Fields()
                                .put("name", Programs.lastName(exe))
                                .put("path", exe)
                                .put("type_id", REGULAR_FILE));
    }

    private static Fields process(EventView event) {
        ProcessId id = event.process();
        Fields process = (id == null ? new Fields() : identity(id)).put("name", event.comm());
        Row row = event.row();
        if (row.has(Column.TID)) {
            process.put("tid", (Long) row.number(Column.TID));
        }
        if (row.has(Column.UID)) {
            process.put("user", new Fields().put("uid", Long.toString(row.number(Column.UID))));
        }
        if (row.has(Column.CONTAINER)) {
            process.put("container", new Fields().put("uid", Long.toString(row.number(Column.CONTAINER))));
        }
        Long ppid = event.ppid();
        if (ppid != null) {
            process.put(
                    "parent_process",
                    row.has(Column.PARENT_START_NS)
                            ? identity(new ProcessId(ppid, row.number(Column.PARENT_START_NS)))
                            : new Fields().put("pid", ppid));
        }
        return process;
    }

    private static Fields identity(ProcessId id) {
        return new Fields().put("pid", (Long) id.pid()).put("uid", EventJson.processKey(id.pid(), id.startNs()));
    }
}
