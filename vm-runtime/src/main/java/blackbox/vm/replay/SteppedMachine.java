package blackbox.vm.replay;

import blackbox.schemas.folder.CaptureName;
import blackbox.vm.Command;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.Watchdog;
import blackbox.vm.process.FrameTap;
import blackbox.vm.process.MachineFolder;
import blackbox.vm.process.MachineSockets;
import blackbox.vm.process.QemuArguments;
import blackbox.vm.process.QemuProcess;
import blackbox.vm.process.ReplayLog;
import blackbox.vm.qmp.QmpEvent;
import blackbox.vm.replay.ReplayCheckpoints.MachineFiles;
import blackbox.vm.replay.ReplayMachine.Recording;
import blackbox.vm.seek.GdbStub;
import blackbox.vm.seek.GdbStub.Patience;
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
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A machine that replays a recording of the exact tier and stands still at any instruction of it. What it
/// is there can be kept as a folder, from which another goes on. Of one thread.
public final class SteppedMachine implements AutoCloseable {
    /// The longest that a running machine may execute nothing. One that goes on does so many times a second.
    private static final Duration STILL_MAX = Duration.ofSeconds(20);
    private static final Duration LOOK_EVERY = Duration.ofMillis(500);
    private static final Duration ENDING = Duration.ofSeconds(5);
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(20);
    private static final String SHUTDOWN = "SHUTDOWN";
    private static final String DEVICES = "devices";
    private static final String TAG = "here";

    private final MachineFolder folder;
    private final QemuProcess qemu;
    private final LinkedBlockingQueue<QmpEvent> events;
    private final Path captures;
    private final Began began;
    private boolean shutDown;
    private @Nullable GdbStub gdb;

    private SteppedMachine(
            MachineFolder folder, QemuProcess qemu, LinkedBlockingQueue<QmpEvent> events, Path captures, Began began) {
        this.folder = folder;
        this.qemu = qemu;
        this.events = events;
        this.captures = captures;
        this.began = began;
    }

    /// Where a machine began.
    ///
    /// @param position the instruction
    /// @param requests to disks that were done before
    /// @param headBytes of its log that are its own; behind them the recording's log goes on
    /// @param logFrom where it does, in the recording's log with its header
    /// @param written what was written to each captured file before, in octets
    private record Began(long position, long requests, long headBytes, long logFrom, Map<String, Long> written) {
        static final Began START = new Began(0, 0, ReplayLog.HEADER_BYTES, ReplayLog.HEADER_BYTES, Map.of());
    }

    /// Clears what machines left whose programs were killed.
    public static void clearLeftovers(Path data) throws VmException {
        MachineFolder.clearLeftovers(data.toAbsolutePath().normalize());
    }

    /// Makes the machine as it was when the recording began. `log` is the kept part of QEMU's log.
    public static SteppedMachine open(Path data, Recording recording, InputStream log) throws VmException {
        Path captures = recording.captures().toAbsolutePath();
        MachineFolder folder = MachineFolder.create(data.toAbsolutePath().normalize());
        try {
            SparseCopy.make(CaptureName.RAM.in(captures), folder.file(QemuArguments.RAM));
            ReplayCheckpoints.stateAtStart(captures, folder.file(QemuArguments.STATE));
            WorkspaceDisk.create(folder.file(QemuArguments.WORKSPACE_OUT));
            ReplayLog.restore(CaptureName.HEADER.in(captures), log, folder.file(QemuArguments.LOG));
            return launch(folder, recording, CaptureName.DEVICES.in(captures), Began.START);
        } catch (VmException e) {
            folder.close();
            throw e;
        }
    }

    /// Makes the machine as it was when it was kept at `position`. `log` is the kept part of QEMU's log.
    public static SteppedMachine open(
            Path data, Recording recording, InputStream log, ReplayCheckpoints checkpoints, long position)
            throws VmException {
        Path captures = recording.captures().toAbsolutePath();
        MachineFolder folder = MachineFolder.create(data.toAbsolutePath().normalize());
        try {
            ReplayCheckpoint.Rest rest =
                    checkpoints.restore(position, log, captures, files(folder), folder.file(QemuArguments.LOG));
            Path devices = Files.write(folder.file(DEVICES), rest.devices());
            var began = new Began(
                    position,
                    ResumePoint.of(rest.devices()).requests(),
                    rest.head().length,
                    rest.logFrom(),
                    rest.written());
            return launch(folder, recording, devices, began);
        } catch (VmException e) {
            folder.close();
            throw e;
        } catch (IOException e) {
            folder.close();
            throw new VmException(Code.IO, "a machine's devices could not be written", e);
        }
    }

    private static MachineFiles files(MachineFolder folder) throws VmException {
        return new MachineFiles(
                folder.file(QemuArguments.RAM),
                folder.file(QemuArguments.STATE),
                folder.file(QemuArguments.WORKSPACE_OUT));
    }

    private static SteppedMachine launch(MachineFolder folder, Recording recording, Path devices, Began began)
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
        // Nobody looks at the frames of a replay that is stopped; QEMU would wait for somebody who does.
        FrameTap.discard(qemu.framesOut());
        FrameTap.discard(qemu.framesIn());
        try {
            qemu.loadDevices(devices);
            return new SteppedMachine(folder, qemu, events, recording.captures().toAbsolutePath(), began);
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

    /// Executes up to before instruction `position`, which must not be behind it; false when the recording ends
    /// before, and QEMU with it.
    ///
    /// @throws VmException `TIMEOUT` when that takes longer than `timeout`, or the machine stands still
    public boolean runTo(long position, Duration timeout) throws VmException {
        if (position() == position) {
            return true;
        }
        long deadline = System.nanoTime() + timeout.toNanos();
        events.clear();
        qemu.qmp().execute("replay-break", Json.object().put("icount", position), COMMAND_TIMEOUT);
        qemu.resume();
        Patience patience = whileItMoves();
        do {
            if (await("STOP", deadline, patience) == null) {
                return false;
            }
        } while (position() != position);
        return true;
    }

    /// Keeps what another machine goes on with from here.
    ///
    /// @return false when that cannot be done here, but an instruction later perhaps: a request to a disk is
    ///     under way
    public boolean keep(ReplayCheckpoints checkpoints) throws VmException {
        if (!job("snapshot-save", Json.object().put("tag", TAG).put("vmstate", QemuArguments.KEPT))) {
            return false;
        }
        var point = ResumePoint.of(VmStateFile.stream(folder.file(QemuArguments.KEPT)));
        job("snapshot-delete", Json.object().put("tag", TAG));
        Path log = folder.file(QemuArguments.LOG);
        if (point.place() < began.headBytes() || !point.settled(log, began.requests())) {
            return false;
        }
        var written = new TreeMap<String, Long>();
        for (String name : List.of(CaptureName.CONSOLE.text(), CaptureName.STDIO.text(), CaptureName.EVENTS.text())) {
            written.put(name, written(name));
        }
        long logFrom = began.logFrom() + point.place() - began.headBytes();
        var rest = new ReplayCheckpoint.Rest(point.instruction(), logFrom, point.head(log), point.devices(), written);
        checkpoints.add(captures, files(folder), rest);
        return true;
    }

    /// How much has been written to a captured file since the recording's start, in octets: to the console, the
    /// streams, or by the tracer.
    public long written(String name) throws VmException {
        try {
            return writtenBefore(name) + Files.size(capture(name));
        } catch (IOException e) {
            throw new VmException(Code.IO, capture(name) + " has no size", e);
        }
    }

    /// The debugger's end of this machine.
    public GdbStub gdb() throws VmException {
        GdbStub open = gdb;
        if (open == null) {
            open = GdbStub.connect(folder.sockets().resolve(QemuArguments.GDB), this::whileItMoves);
            gdb = open;
        }
        return open;
    }

    /// Patience for a stretch that begins now: for as long as the machine goes on. A QEMU that has lost its
    /// log's thread does not say so; it waits for ever.
    private Patience whileItMoves() {
        var watchdog = new Watchdog(STILL_MAX, "instruction", System::nanoTime);
        return () -> {
            String still;
            try {
                still = watchdog.see(position());
            } catch (VmException e) { // it has ended, which shows elsewhere, or does not answer
                still = watchdog.miss();
            }
            if (still != null) {
                throw new VmException(Code.TIMEOUT, "the replay does not go on: " + still);
            }
        };
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

    /// A file that the recording has too, as in [ReplayMachine#capture], from octet [#writtenBefore] on.
    public Path capture(String name) {
        return folder.file(QemuArguments.CAPTURE).resolve(name);
    }

    /// How much of a captured file was written before this machine went on from a kept one, in octets.
    public long writtenBefore(String name) {
        return began.written().getOrDefault(name, 0L);
    }

    /// The instruction at which this machine began: 0, or where it was kept.
    public long beganAt() {
        return began.position();
    }

    /// Whether QEMU, which has ended or is about to, crashed or was killed.
    public boolean crashed() throws VmException {
        return !qemu.awaitEnd(ENDING) || qemu.endedBySignal();
    }

    /// Whether QEMU, which has ended, was told to: by the recording, or by somebody here, such as ctrl-C
    /// does. Otherwise its log went no further.
    public boolean shutDown() throws VmException {
        return shutDown || await(SHUTDOWN, System.nanoTime() + ENDING.toNanos(), () -> {}) == null && shutDown;
    }

    /// What QEMU last wrote to its standard error.
    public String lastWords() {
        return qemu.lastWords();
    }

    /// Executes to the end of the log; false when that takes longer than `timeout`.
    ///
    /// @throws VmException `QEMU_FAILED` when QEMU crashes, `TIMEOUT` when it stands still
    public boolean finish(Duration timeout) throws VmException {
        qemu.resume();
        Patience patience = whileItMoves();
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!qemu.awaitEnd(LOOK_EVERY)) {
            if (System.nanoTime() >= deadline) {
                return false;
            }
            patience.look();
        }
        if (crashed()) {
            throw new VmException(Code.QEMU_FAILED, "QEMU was ended: " + lastWords());
        }
        return true;
    }

    @Override
    public void close() throws VmException {
        boolean interrupted = Thread.interrupted(); // what is told to stop still tidies up
        try (folder;
                var open = gdb) {
            if (qemu.alive()) {
                qemu.kill();
            }
            qemu.close();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /// Runs one of QEMU's jobs to its end; false when QEMU says that now is not the time.
    private boolean job(String command, ObjectNode arguments) throws VmException {
        events.clear();
        arguments.put("job-id", command).putArray("devices").add(QemuArguments.KEPT);
        qemu.qmp().execute(command, arguments, COMMAND_TIMEOUT);
        long deadline = System.nanoTime() + COMMAND_TIMEOUT.toNanos();
        String status;
        do {
            QmpEvent change = await("JOB_STATUS_CHANGE", deadline, () -> {});
            if (change == null) {
                throw new VmException(Code.QEMU_FAILED, "QEMU ended at '" + command + "'; " + qemu.lastWords());
            }
            status = change.data().path("status").asText();
        } while (!status.equals("concluded"));
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

    /// The next event of this name; null when QEMU ends before.
    private @Nullable QmpEvent await(String name, long deadline, Patience patience) throws VmException {
        try {
            while (true) {
                boolean alive = qemu.alive();
                long leftNs = deadline - System.nanoTime();
                QmpEvent event = events.poll(Math.min(leftNs, LOOK_EVERY.toNanos()), TimeUnit.NANOSECONDS);
                if (event == null) {
                    if (!alive) {
                        return null;
                    }
                    if (leftNs <= 0) {
                        throw new VmException(Code.TIMEOUT, "the replay stands at instruction " + position());
                    }
                    patience.look();
                    continue;
                }
                switch (event.name()) {
                    case SHUTDOWN -> {
                        shutDown = true;
                        return null;
                    }
                    case "DISCONNECTED" -> {
                        return null;
                    }
                    case "BLOCK_IO_ERROR" ->
                        throw new VmException(Code.DISK_FULL, "the host's disk took no more; make room and try again");
                    default -> {
                        if (event.name().equals(name)) {
                            return event;
                        }
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while a replay ran", e);
        }
    }
}
