package blackbox.vm.host;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Box;
import blackbox.vm.process.AgentPipe;
import blackbox.vm.process.ColdBoot;
import blackbox.vm.process.MachineFolder;
import blackbox.vm.process.QemuArguments;
import blackbox.vm.qemu.Qemu;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Tries out what the start of a machine needs from this host and user, without booting one: the folder and its
/// sockets, the disk and the pipe that other programs create, a hard link to a snapshot's file, and a QEMU that
/// opens its RAM.
public final class StartTrial {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int MEMORY_MIB = 16;

    private StartTrial() {}

    /// Makes the trial below `data`, and deletes what it made.
    ///
    /// @throws VmException as a start would have failed
    public static void run(Path data, Qemu qemu) throws VmException {
        try (var folder = MachineFolder.create(data.toAbsolutePath().normalize())) {
            ColdBoot.makeStateDisk(folder.file(QemuArguments.STATE));
            ColdBoot.makeRam(folder.file(QemuArguments.RAM), MEMORY_MIB);
            try (var pipe = new AgentPipe(folder)) {
                Files.createLink(folder.file(QemuArguments.KEPT), folder.file(QemuArguments.RAM));
                start(folder, qemu);
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, "a trial start of a machine in " + data + " failed: " + e.getMessage(), e);
        }
    }

    private static void discard(Process process) {
        try (InputStream said = process.getInputStream()) {
            said.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            return; // it has ended
        }
    }

    private static void start(MachineFolder folder, Qemu qemu) throws VmException, IOException {
        var argv = new ArrayList<>(qemu.program());
        argv.addAll(List.of("-nodefaults", "-no-user-config", "-display", "none", "-S", "-monitor", "stdio"));
        argv.addAll(List.of("-machine", "q35,memory-backend=ram", "-accel", "tcg", "-m", MEMORY_MIB + "M"));
        argv.addAll(List.of(
                "-object",
                "memory-backend-file,id=ram,size=" + MEMORY_MIB + "M,mem-path=" + QemuArguments.RAM + ",share=off"));
        Path log = folder.file("qemu.log");
        Path place = folder.path().toRealPath();
        Box box = Box.in(place).memory(MEMORY_MIB).writable(place);
        qemu.open(box);
        Process process = box.start(argv, log);
        try (OutputStream monitor = process.getOutputStream()) {
            monitor.write("quit\n".getBytes(StandardCharsets.US_ASCII));
            monitor.close();
            Thread.ofPlatform().daemon().start(() -> discard(process));
            if (!process.waitFor(TIMEOUT) || process.exitValue() != 0) {
                throw new VmException(
                        Code.QEMU_FAILED,
                        "QEMU does not start: " + Files.readString(log).strip());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while QEMU was tried out", e);
        } finally {
            process.destroyForcibly();
            box.end();
        }
    }
}
