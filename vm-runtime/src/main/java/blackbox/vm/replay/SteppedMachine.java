package blackbox.vm.replay;

import blackbox.schemas.folder.CaptureName;
import blackbox.vm.Command;
import blackbox.vm.Json;
import blackbox.vm.SparseCopy;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.Watchdog;
import blackbox.vm.process.FrameTap;
import blackbox.vm.process.MachineFolder;
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
import blackbox.vm.workspace.WorkspaceSource;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A machine that replays a recording of the exact tier and can pause at any instruction of it. Its state
/// there can be saved, and another machine can resume from it. Owned by one thread.
public final class SteppedMachine implements AutoCloseable {
    /// The longest time that a running machine may execute nothing. One that makes progress does so many
    /// times a second.
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
    private final Path debugger;
    private boolean shutDown;
    private boolean continued;
    private @Nullable GdbStub gdb;
    private @Nullable LiveFiles live;

    private SteppedMachine(
            MachineFolder folder,
            QemuProcess qemu,
            LinkedBlockingQueue<QmpEvent> events,
            Path captures,
            Began began,
            Path debugger) {
        this.folder = folder;
        this.qemu = qemu;
        this.events = events;
        this.captures = captures;
        this.began = began;
        this.debugger = debugger;
    }

    /// Where a machine started.
    ///
    /// @param position the instruction
    /// @param requests disk requests that completed before
    /// @param headBytes of its log that are its own; after them the recording's log continues
    /// @param logFrom where it continues, in the recording's log with its header
    /// @param written how much had been written to each captured file before, in octets
    private record Began(long position, long requests, long headBytes, long logFrom, Map<String, Long> written) {
        static final Began START = new Began(0, 0, ReplayLog.HEADER_BYTES, ReplayLog.HEADER_BYTES, Map.of());
    }

    /// Cleans up after machines whose programs were killed.
    public static void clearLeftovers(Path data) throws VmException {
        MachineFolder.clearLeftovers(data.toAbsolutePath().normalize());
    }

    /// Creates the machine in the state in which the recording began. `log` is the stored part of QEMU's log.
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

    /// Creates the machine from the checkpoint at `position`. `log` is the stored part of QEMU's log.
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
        WorkspaceSource workspace = recording.workspace();
        if (workspace != null) {
            workspace.writeTo(in);
        }
        Command.of("qemu-img", "create", "-q", "-f", "qcow2", QemuArguments.KEPT, "1M")
                .in(folder.path())
                .run();
        var events = new LinkedBlockingQueue<QmpEvent>();
        var start = recording.start(QemuArguments.stepped(recording.parts()));
        var qemu = QemuProcess.launch(folder, start, events::add);
        // Nobody reads the frames of a stepped replay, and QEMU would wait for a reader.
        FrameTap.discard(qemu.framesOut());
        FrameTap.discard(qemu.framesIn());
        try {
            qemu.loadDevices(devices);
            Path debugger = folder.takeSocket(QemuArguments.GDB);
            return new SteppedMachine(folder, qemu, events, recording.captures().toAbsolutePath(), began, debugger);
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

    /// Executes up to just before instruction `position`, which must not be in the past; false if the
    /// recording, and QEMU with it, ends before that.
    ///
    /// @throws VmException `TIMEOUT` when that takes longer than `timeout`, or the machine makes no progress
    public boolean runTo(long position, Duration timeout) throws VmException {
        if (position() == position) {
            return true;
        }
        long deadline = System.nanoTime() + timeout.toNanos();
        events.clear();
        qemu.qmp().execute("replay-break", Json.object().put("icount", position), COMMAND_TIMEOUT);
        qemu.resume();
        continued = true;
        Patience patience = whileItMoves();
        do {
            if (await("STOP", deadline, patience) == null) {
                return false;
            }
        } while (position() != position);
        return true;
    }

    /// Makes sure that a debugger may let it run; executes an instruction if it has executed none. Only QEMU's
    /// own command to continue gives a machine that was just loaded its disks: one that a debugger lets run
    /// crashes at its first write.
    ///
    /// @return false if the recording, and QEMU with it, ends there
    public boolean readyForDebugger(Duration timeout) throws VmException {
        return continued || runTo(position() + 1, timeout);
    }

    /// Saves what another machine needs to resume from here.
    ///
    /// @return false when that cannot be done here, but perhaps an instruction later: a disk request is in
    /// flight
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
        checkpoints.add(live(), rest);
        return true;
    }

    private LiveFiles live() throws VmException {
        LiveFiles open = live;
        if (open == null) {
            open = LiveFiles.open(captures, files(folder), folder.path());
            live = open;
        }
        return open;
    }

    /// How much has been written to a captured file since the recording's start, in octets: to the console, the
    /// streams, or by the tracer.
    public long written(String name) throws VmException {
        try {
            return writtenBefore(name) + Files.size(capture(name));
        } catch (IOException e) {
            throw new VmException(Code.IO, "the size of " + capture(name) + " cannot be read", e);
        }
    }

    /// The debugger's end of this machine.
    public GdbStub gdb() throws VmException {
        GdbStub open = gdb;
        if (open == null) {
            open = GdbStub.connect(debugger, this::whileItMoves);
            gdb = open;
        }
        return open;
    }

    /// Patience for a period of execution that begins now: it lasts while the machine makes progress. A QEMU
    /// that has lost its place in the log does not say so; it waits forever.
    private Patience whileItMoves() {
        var watchdog = new Watchdog(STILL_MAX, "instruction", System::nanoTime);
        return () -> {
            String still;
            try {
                still = watchdog.see(position());
            } catch (VmException e) { // it has ended, which is noticed elsewhere, or does not answer
                still = watchdog.miss();
            }
            if (still != null) {
                throw new VmException(Code.TIMEOUT, "the replay is stuck: " + still);
            }
        };
    }

    /// Closes our own debugger connection, so that another debugger is served: QEMU serves one at a time.
    public void release() throws VmException {
        GdbStub open = gdb;
        if (open != null) {
            gdb = null;
            open.close();
        }
    }

    /// The socket for a debugger of the user's own, see [#release].
    public Path debugger() {
        return debugger;
    }

    /// The current RAM, octet by octet.
    public Path ram() {
        return folder.file(QemuArguments.RAM);
    }

    /// A file that the recording has too, as in [ReplayMachine#capture], from octet [#writtenBefore] on.
    public Path capture(String name) {
        return folder.file(QemuArguments.CAPTURE).resolve(name);
    }

    /// How much of a captured file was written before the checkpoint from which this machine resumed, in
    /// octets.
    public long writtenBefore(String name) {
        return began.written().getOrDefault(name, 0L);
    }

    /// The instruction at which this machine started: 0, or that of its checkpoint.
    public long beganAt() {
        return began.position();
    }

    /// Whether QEMU, which has ended or is about to, crashed or was killed.
    public boolean crashed() throws VmException {
        return !qemu.awaitEnd(ENDING) || qemu.endedBySignal();
    }

    /// Whether QEMU, which has ended, was told to: by the recording, or from here, for example by Ctrl-C.
    /// Otherwise its log ended.
    public boolean shutDown() throws VmException {
        return shutDown || await(SHUTDOWN, System.nanoTime() + ENDING.toNanos(), () -> {}) == null && shutDown;
    }

    /// The last line that QEMU wrote to its standard error.
    public String lastWords() {
        return qemu.lastWords();
    }

    /// Executes to the end of the log; false when that takes longer than `timeout`.
    ///
    /// @throws VmException `QEMU_FAILED` when QEMU crashes, `TIMEOUT` when it makes no progress
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
            throw new VmException(Code.QEMU_FAILED, "QEMU ended too early: " + lastWords());
        }
        return true;
    }

    @Override
    public void close() throws VmException {
        boolean interrupted = Thread.interrupted(); // an interrupted replay still cleans up
        try (folder;
                var files = live;
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

    /// Runs one of QEMU's jobs to its end; false if QEMU says that it cannot be done right now.
    private boolean job(String command, ObjectNode arguments) throws VmException {
        events.clear();
        arguments.put("job-id", command).putArray("devices").add(QemuArguments.KEPT);
        qemu.qmp().execute(command, arguments, COMMAND_TIMEOUT);
        long deadline = System.nanoTime() + COMMAND_TIMEOUT.toNanos();
        String status;
        do {
            QmpEvent change = await("JOB_STATUS_CHANGE", deadline, () -> {});
            if (change == null) {
                throw new VmException(Code.QEMU_FAILED, "QEMU ended during '" + command + "': " + qemu.lastWords());
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

    /// The next event of this name; null if QEMU ends before it.
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
                        throw new VmException(Code.TIMEOUT, "the replay is stuck at instruction " + position());
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
                        throw new VmException(Code.DISK_FULL, "the host's disk is full; free some space and try again");
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
