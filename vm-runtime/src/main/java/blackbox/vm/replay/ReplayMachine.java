package blackbox.vm.replay;

import blackbox.schemas.folder.CaptureName;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.GuestImage;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.process.MachineFolder;
import blackbox.vm.process.MachineParts;
import blackbox.vm.process.MachineSockets;
import blackbox.vm.process.QemuArguments;
import blackbox.vm.process.QemuProcess;
import blackbox.vm.process.QemuStart;
import blackbox.vm.process.ReplayLog;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.qmp.QmpEvent;
import blackbox.vm.snapshot.SnapshotStore;
import blackbox.vm.snapshot.VmSnapshot;
import blackbox.vm.workspace.WorkspaceDisk;
import blackbox.vm.workspace.WorkspaceSource;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A machine that repeats what one of the exact tier did. It has no network and no input: what came from
/// outside comes from the recording's log, and what the guest sends goes to files of its own folder. It is
/// paused until [#resume]. Owned by one thread; [#kill] may come from any.
public final class ReplayMachine implements AutoCloseable {
    private static final Duration ENDING = Duration.ofSeconds(5);
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(20);

    private final MachineFolder folder;
    private final QemuProcess qemu;

    private ReplayMachine(MachineFolder folder, QemuProcess qemu) {
        this.folder = folder;
        this.qemu = qemu;
    }

    /// The inputs of a replay.
    ///
    /// @param image of the recording
    /// @param qemu of the recording
    /// @param size of the recording's machine
    /// @param instructionShift nanoseconds of the guest's time that an instruction took, as a power of two
    /// @param ramReadOnly whether its QEMU opened the snapshot's RAM only for reading
    /// @param captures of the recording, see [VmRequest]
    /// @param workspace what was copied in; null for none
    public record Recording(
            GuestImage image,
            Qemu qemu,
            MachineSize size,
            int instructionShift,
            boolean ramReadOnly,
            Path captures,
            @Nullable WorkspaceSource workspace) {

        /// Whether the QEMU with this command line opened the snapshot's RAM only for reading.
        public static boolean opensRamReadOnly(List<String> argv) {
            return QemuArguments.opensRamReadOnly(argv);
        }

        /// QEMU's command line at the time of the recording.
        public List<String> argv(Network network) {
            return QemuArguments.restored(parts(), network, QemuArguments.BlockLog.KEPT);
        }

        /// A replay has no network.
        QemuStart start(List<String> argv) {
            return new QemuStart(parts(), Network.NONE, EnumSet.of(MachineSockets.Port.QMP), argv);
        }

        MachineParts parts() {
            return MachineParts.exact(qemu, image, size, instructionShift, ramReadOnly);
        }
    }

    /// Creates the machine in the state in which the recording began.
    ///
    /// @param log the stored part of QEMU's log
    /// @param listener receives QEMU's events, on a thread that it must not block
    public static ReplayMachine open(Path data, Recording recording, InputStream log, Consumer<QmpEvent> listener)
            throws VmException {
        MachineFolder folder = MachineFolder.create(data.toAbsolutePath().normalize());
        try {
            furnish(folder, recording, log);
            var start = recording.start(QemuArguments.replayed(recording.parts()));
            var qemu = QemuProcess.launch(folder, start, listener);
            try {
                qemu.loadDevices(CaptureName.DEVICES.in(recording.captures()));
                return new ReplayMachine(folder, qemu);
            } catch (VmException e) {
                qemu.close();
                throw e;
            }
        } catch (VmException e) {
            folder.close();
            throw e;
        }
    }

    private static void furnish(MachineFolder folder, Recording recording, InputStream log) throws VmException {
        Path captures = recording.captures().toAbsolutePath();
        folder.link(QemuArguments.IMAGE, recording.image().folder());
        folder.link(QemuArguments.QEMU, recording.qemu().place());
        folder.makeFolder(QemuArguments.CAPTURE);
        folder.makeFolder(QemuArguments.SNAPSHOT);
        folder.link(QemuArguments.SNAPSHOT + "/" + VmSnapshot.RAM, CaptureName.RAM.in(captures));
        folder.link(QemuArguments.SNAPSHOT + "/" + VmSnapshot.STATE, CaptureName.BASE.in(captures));
        SnapshotStore.makeOverlay(folder.path(), QemuArguments.STATE);
        WorkspaceDisk.create(folder.file(QemuArguments.WORKSPACE_OUT));
        var in = WorkspaceDisk.create(folder.file(QemuArguments.WORKSPACE_IN));
        WorkspaceSource workspace = recording.workspace();
        if (workspace != null) {
            workspace.writeTo(in);
        }
        ReplayLog.restore(CaptureName.HEADER.in(captures), log, folder.file(QemuArguments.LOG));
    }

    /// Lets the guest's processor run.
    public void resume() throws VmException {
        qemu.resume();
    }

    /// How many instructions were executed since the recording began; -1 when QEMU has ended.
    public long position() throws VmException {
        try {
            JsonNode answer = qemu.qmp().execute("query-replay", COMMAND_TIMEOUT);
            return answer.path("icount").asLong(-1);
        } catch (VmException e) {
            // Its sockets close before it has ended.
            if (e.code() == Code.QEMU_FAILED && qemu.awaitEnd(ENDING)) {
                return -1;
            }
            throw e;
        }
    }

    /// Waits until QEMU ends, which it does at the log's end.
    ///
    /// @return whether it has ended
    public boolean awaitEnd(Duration timeout) throws VmException {
        return qemu.awaitEnd(timeout);
    }

    /// The last line of QEMU's standard error.
    public String lastWords() {
        return qemu.lastWords();
    }

    /// A file that the recording has too, under the same name, see [CaptureName#SENT].
    public Path capture(String name) {
        return folder.file(QemuArguments.CAPTURE).resolve(name);
    }

    /// What the tracer sends, while it sends it.
    public InputStream events() throws VmException {
        try {
            return qemu.follow(capture(CaptureName.EVENTS.text()), 0);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the tracer's stream could not be read", e);
        }
    }

    /// Every frame that the guest sends, as a pcap stream; read it on a platform thread. Nobody receives them.
    public InputStream framesOut() {
        return qemu.framesOut();
    }

    /// Every frame that the guest receives, from the log.
    public InputStream framesIn() {
        return qemu.framesIn();
    }

    /// Ends the machine at once.
    public void kill() throws VmException {
        qemu.kill();
    }

    @Override
    public void close() throws VmException {
        try (folder) {
            if (qemu.alive()) {
                qemu.kill();
            }
            qemu.close();
        }
    }
}
