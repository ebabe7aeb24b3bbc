package blackbox.vm.process;

import blackbox.schemas.folder.CaptureName;
import blackbox.vm.Command;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Tail;
import blackbox.vm.guest.GuestControl;
import blackbox.vm.machine.GuestMessage.Ready;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.Tier;
import blackbox.vm.process.MachineSockets.Port;
import blackbox.vm.qmp.QmpEvent;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A machine that boots its kernel from scratch.
///
/// @param qemu the running process
/// @param control channel to the guest's first process
/// @param input the agent's input pipe, in the exact tier
public record ColdBoot(
        MachineFolder folder,
        QemuProcess qemu,
        GuestControl control,
        @Nullable AgentPipe input) implements AutoCloseable {
    private static final Duration BOOT_TIMEOUT = Duration.ofMinutes(5);
    private static final int CONSOLE_LINES = 12;
    private static final int CONSOLE_BYTES = 16 << 10;
    /// Fixed, so that an empty state disk is always the same bytes.
    private static final String STATE_ID = "b1ac0b0c-0000-4000-8000-000000000001";

    /// Creates the disks that are missing, starts QEMU and lets it run. Workspace disks that the caller has
    /// created are left as they are.
    public static ColdBoot launch(
            MachineFolder folder, MachineParts parts, Network network, Consumer<QmpEvent> listener) throws VmException {
        makeStateDisk(folder.file(QemuArguments.STATE));
        makeRam(folder.file(QemuArguments.RAM), parts.size().memoryMib());
        for (String disk : new String[] {QemuArguments.WORKSPACE_IN, QemuArguments.WORKSPACE_OUT}) {
            if (!Files.exists(folder.file(disk))) {
                WorkspaceDisk.create(folder.file(disk));
            }
        }
        parts.image().check();
        folder.link(QemuArguments.IMAGE, parts.image().folder());
        folder.link(QemuArguments.QEMU, parts.qemu().place());
        var argv = QemuArguments.cold(parts, network);
        AgentPipe input = null;
        if (parts.tier() == Tier.EXACT) {
            folder.makeFolder(QemuArguments.CAPTURE);
            input = new AgentPipe(folder);
        }
        var qemu = QemuProcess.launch(
                folder, new QemuStart(parts, network, Port.of(parts.tier(), network), argv), listener);
        var control = qemu.control();
        try {
            qemu.resume();
        } catch (VmException e) {
            qemu.close();
            throw e;
        }
        return new ColdBoot(folder, qemu, control, input);
    }

    /// Waits until the guest is ready for an agent.
    ///
    /// @throws VmException `BOOT_FAILED` with the console's last lines
    public Ready awaitReady() throws VmException {
        try {
            return control.awaitReady(BOOT_TIMEOUT);
        } catch (VmException e) {
            throw new VmException(
                    Code.BOOT_FAILED,
                    "the VM did not start: " + e.getMessage() + "; its console ends with:\n" + console(),
                    e);
        }
    }

    /// The tracer's stream.
    public InputStream events() throws VmException {
        try {
            return input == null
                    ? Channels.newInputStream(qemu.sockets().channel(MachineSockets.Port.EVENTS))
                    : qemu.follow(CaptureName.EVENTS.in(folder.file(QemuArguments.CAPTURE)), 0);
        } catch (IOException e) {
            throw new VmException(Code.IO, "the tracer's stream could not be read", e);
        }
    }

    @Override
    public void close() throws VmException {
        try (input) {
            qemu.close();
        }
    }

    private String console() {
        try {
            var lines = Tail.lines(folder.file(QemuArguments.CONSOLE), CONSOLE_BYTES);
            return String.join("\n", lines.subList(Math.max(0, lines.size() - CONSOLE_LINES), lines.size()))
                    .replaceAll("[\\p{Cntrl}&&[^\n]]", "?");
        } catch (IOException e) {
            return "(no console)";
        }
    }

    public static void makeStateDisk(Path disk) throws VmException {
        setLength(disk, WorkspaceDisk.LENGTH_BYTES);
        Command.of(
                        "mke2fs",
                        "-q",
                        "-F",
                        "-t",
                        "ext4",
                        "-U",
                        STATE_ID,
                        // Nothing is kept for root, so that what `df` shows is what an agent can have.
                        "-m",
                        "0",
                        "-E",
                        "hash_seed=" + STATE_ID + ",lazy_itable_init=1,lazy_journal_init=1",
                        disk.toString())
                .with("E2FSPROGS_FAKE_TIME", "1")
                .run();
    }

    public static void makeRam(Path ram, int memoryMib) throws VmException {
        setLength(ram, (long) memoryMib << 20);
    }

    private static void setLength(Path file, long length) throws VmException {
        try (var raw = new RandomAccessFile(file.toFile(), "rw")) {
            raw.setLength(length);
        } catch (IOException e) {
            throw new VmException(Code.IO, file + " could not be made", e);
        }
    }
}
