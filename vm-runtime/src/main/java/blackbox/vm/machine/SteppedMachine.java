package blackbox.vm.machine;

import blackbox.vm.Command;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.machine.ReplayMachine.Recording;
import blackbox.vm.qmp.QmpEvent;
import blackbox.vm.seek.ChangedPages;
import blackbox.vm.seek.GdbStub;
import blackbox.vm.seek.ResumePoint;
import blackbox.vm.seek.VmStateFile;
import blackbox.vm.workspace.WorkspaceDisk;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A machine that replays a recording of the exact tier and stands still at any instruction of it. What it
/// is there can be kept as a folder, from which another goes on. Of one thread.
public final class SteppedMachine implements AutoCloseable {
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(20);
    private static final String PAGES = "pages";
    private static final String DEVICES = "devices";
    private static final String TAG = "here";

    private final MachineFolder folder;
    private final QemuProcess qemu;
    private final LinkedBlockingQueue<QmpEvent> events;
    private final Path base;
    private final long requestsBefore;
    private @Nullable GdbStub gdb;

    private SteppedMachine(
            MachineFolder folder,
            QemuProcess qemu,
            LinkedBlockingQueue<QmpEvent> events,
            Path base,
            long requestsBefore) {
        this.folder = folder;
        this.qemu = qemu;
        this.events = events;
        this.base = base;
        this.requestsBefore = requestsBefore;
    }

    /// Makes the machine as it was when the recording began. `log` is the kept part of QEMU's log.
    public static SteppedMachine open(Path data, Recording recording, InputStream log) throws VmException {
        Path captures = recording.captures().toAbsolutePath();
        MachineFolder folder = MachineFolder.create(data.toAbsolutePath().normalize());
        try {
            copySparse(captures.resolve(VmRequest.RAM), folder.file(QemuArguments.RAM));
            Path state = folder.file(QemuArguments.STATE);
            String from = captures.resolve(VmRequest.BASE).toString();
            Command.of("qemu-img", "convert", "-f", "qcow2", "-O", "raw", from, state.toString())
                    .run();
            WorkspaceDisk.create(folder.file(QemuArguments.WORKSPACE_OUT));
            ReplayLog.restore(captures.resolve(VmRequest.HEADER), log, folder.file(QemuArguments.LOG));
            return launch(folder, recording, captures.resolve(VmRequest.DEVICES), 0);
        } catch (VmException e) {
            folder.close();
            throw e;
        }
    }

    /// Makes the machine as it was when it was [#keep]t.
    public static SteppedMachine open(Path data, Recording recording, Path kept) throws VmException {
        Path captures = recording.captures().toAbsolutePath();
        MachineFolder folder = MachineFolder.create(data.toAbsolutePath().normalize());
        try {
            copySparse(captures.resolve(VmRequest.RAM), folder.file(QemuArguments.RAM));
            ChangedPages.apply(kept.resolve(PAGES), folder.file(QemuArguments.RAM));
            copySparse(kept.resolve(QemuArguments.STATE), folder.file(QemuArguments.STATE));
            copySparse(kept.resolve(QemuArguments.WORKSPACE_OUT), folder.file(QemuArguments.WORKSPACE_OUT));
            copySparse(kept.resolve(QemuArguments.LOG), folder.file(QemuArguments.LOG));
            Path devices = kept.resolve(DEVICES);
            return launch(folder, recording, devices, requests(devices));
        } catch (VmException e) {
            folder.close();
            throw e;
        }
    }

    private static SteppedMachine launch(MachineFolder folder, Recording recording, Path devices, long requests)
            throws VmException {
        folder.link(QemuArguments.IMAGE, recording.image().folder());
        folder.link(QemuArguments.QEMU, recording.qemu().place());
        folder.makeFolder(QemuArguments.CAPTURE);
        var in = WorkspaceDisk.create(folder.file(QemuArguments.WORKSPACE_IN));
        Path workspace = recording.workspace();
        if (workspace != null) {
            in.copy(workspace);
        }
        Command.of("qemu-img", "create", "-q", "-f", "qcow2", QemuArguments.KEPT, "1M")
                .in(folder.path())
                .run();
        var events = new LinkedBlockingQueue<QmpEvent>();
        var argv = QemuArguments.stepped(recording.parts());
        var qemu = QemuProcess.launch(folder, EnumSet.of(MachineSockets.Port.QMP), argv, events::add);
        try {
            qemu.loadDevices(devices);
            Path base = recording.captures().toAbsolutePath().resolve(VmRequest.RAM);
            return new SteppedMachine(folder, qemu, events, base, requests);
        } catch (VmException e) {
            qemu.close();
            throw e;
        }
    }

    /// The instruction that comes next, counted from 0.
    public long position() throws VmException {
        return qemu.qmp()
                .execute("query-replay", COMMAND_TIMEOUT)
                .path("icount")
                .asLong();
    }

    /// Executes up to before instruction `position`, which must not be behind it.
    ///
    /// @throws VmException `TIMEOUT` when that takes longer than `timeout`
    public void runTo(long position, Duration timeout) throws VmException {
        if (position() == position) {
            return;
        }
        long deadline = System.nanoTime() + timeout.toNanos();
        events.clear();
        qemu.qmp().execute("replay-break", Json.object().put("icount", position), COMMAND_TIMEOUT);
        qemu.resume();
        do {
            await("STOP", deadline);
        } while (position() != position);
    }

    /// Keeps in `target`, a folder that is made, what another machine goes on with from here.
    ///
    /// @return false when that cannot be done here, but an instruction later perhaps: a request to a disk is
    ///     under way
    public boolean keep(Path target) throws VmException {
        if (!job("snapshot-save", Json.object().put("tag", TAG).put("vmstate", QemuArguments.KEPT))) {
            return false;
        }
        byte[] stream = VmStateFile.stream(folder.file(QemuArguments.KEPT));
        job("snapshot-delete", Json.object().put("tag", TAG));
        var point = ResumePoint.of(stream);
        if (!point.settled(folder.file(QemuArguments.LOG), requestsBefore)) {
            return false;
        }
        try {
            Files.createDirectory(target);
        } catch (IOException e) {
            throw new VmException(Code.IO, target + " could not be made", e);
        }
        point.write(folder.file(QemuArguments.LOG), target.resolve(DEVICES), target.resolve(QemuArguments.LOG));
        ChangedPages.save(base, folder.file(QemuArguments.RAM), target.resolve(PAGES));
        copySparse(folder.file(QemuArguments.STATE), target.resolve(QemuArguments.STATE));
        copySparse(folder.file(QemuArguments.WORKSPACE_OUT), target.resolve(QemuArguments.WORKSPACE_OUT));
        return true;
    }

    /// The debugger's end of this machine.
    public GdbStub gdb() throws VmException {
        GdbStub open = gdb;
        if (open == null) {
            open = GdbStub.connect(folder.sockets().resolve(QemuArguments.GDB), Duration.ofMinutes(10));
            gdb = open;
        }
        return open;
    }

    /// Gives up our own debugger's end, so that somebody else's is served: QEMU serves one at a time.
    public void release() throws VmException {
        GdbStub open = gdb;
        if (open != null) {
            gdb = null;
            open.close();
        }
    }

    /// The socket for a debugger of the user's own, see [#release].
    public Path debugger() throws VmException {
        return folder.sockets().resolve(QemuArguments.GDB);
    }

    /// RAM as it is now, octet by octet.
    public Path ram() {
        return folder.file(QemuArguments.RAM);
    }

    /// A file that the recording has too, as in [ReplayMachine#capture]; of a machine that went on from a
    /// kept one, what came since.
    public Path capture(String name) {
        return folder.file(QemuArguments.CAPTURE).resolve(name);
    }

    /// Executes to the end of the log; false when that takes longer than `timeout`.
    public boolean finish(Duration timeout) throws VmException {
        qemu.resume();
        return qemu.awaitEnd(timeout);
    }

    @Override
    public void close() throws VmException {
        try (folder;
                var open = gdb) {
            if (qemu.alive()) {
                qemu.kill();
            }
            qemu.close();
        }
    }

    /// Runs one of QEMU's jobs to its end; false when QEMU says that now is not the time.
    private boolean job(String command, ObjectNode arguments) throws VmException {
        events.clear();
        arguments.put("job-id", command).putArray("devices").add(QemuArguments.KEPT);
        qemu.qmp().execute(command, arguments, COMMAND_TIMEOUT);
        long deadline = System.nanoTime() + COMMAND_TIMEOUT.toNanos();
        while (!await("JOB_STATUS_CHANGE", deadline)
                .data()
                .path("status")
                .asText()
                .equals("concluded")) {
            // created, running, waiting, pending
        }
        String error = "";
        for (JsonNode each : qemu.qmp().execute("query-jobs", COMMAND_TIMEOUT)) {
            error = each.path("id").asText().equals(command)
                    ? each.path("error").asText()
                    : error;
        }
        qemu.qmp().execute("job-dismiss", Json.object().put("id", command), COMMAND_TIMEOUT);
        if (error.contains("right now")) {
            return false;
        }
        if (!error.isEmpty()) {
            throw new VmException(Code.QEMU_FAILED, "QEMU refused '" + command + "': " + error);
        }
        return true;
    }

    private QmpEvent await(String name, long deadline) throws VmException {
        try {
            while (true) {
                QmpEvent event = events.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                if (event == null) {
                    throw new VmException(Code.TIMEOUT, "the replay stands at instruction " + position());
                }
                if (event.name().equals("SHUTDOWN") || event.name().equals("DISCONNECTED")) {
                    throw new VmException(Code.QEMU_FAILED, "the recording ended; " + qemu.lastWords());
                }
                if (event.name().equals(name)) {
                    return event;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while a replay ran", e);
        }
    }

    private static long requests(Path devices) throws VmException {
        try {
            return ResumePoint.of(Files.readAllBytes(devices)).requests();
        } catch (IOException e) {
            throw new VmException(Code.IO, devices + " could not be read", e);
        }
    }

    private static void copySparse(Path from, Path to) throws VmException {
        Command.of("cp", "--sparse=always", from.toString(), to.toString()).run();
        if (!to.toFile().setWritable(true, true)) {
            throw new VmException(Code.IO, to + " could not be made writable");
        }
    }
}
