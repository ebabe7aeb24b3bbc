package blackbox.vm.process;

import blackbox.vm.ChildProcess;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Box;
import blackbox.vm.confine.Confinement;
import blackbox.vm.qemu.Qemu;
import blackbox.vm.qmp.QmpClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// The way out of a machine with [blackbox.vm.machine.Network#USER]: a process that has the host's network, and
/// no file of any run. It is the same libslirp that QEMU would have in itself, in a QEMU without a machine: the
/// frames come in through a Unix socket, to which the machine's QEMU connects, and leave as this host's
/// connections. So the process that executes the guest has no network at all.
final class UserNetwork implements AutoCloseable {
    private static final long LOOK_EVERY_NS = 1_000_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Duration GRACE = Duration.ofSeconds(2);
    private static final String SOCKET = "net";
    private static final String MONITOR = "qmp";
    private static final String ERRORS = "log";

    private final Process process;
    private final ProcessHandle inside;
    private final Box box;
    private final Path errors;
    private final QmpClient monitor;

    private UserNetwork(Process process, ProcessHandle inside, Box box, Path errors, QmpClient monitor) {
        this.process = process;
        this.inside = inside;
        this.box = box;
        this.errors = errors;
        this.monitor = monitor;
    }

    /// Starts it for a machine that is about to start, and puts its socket among the machine's.
    static UserNetwork start(MachineFolder folder, Qemu qemu) throws VmException {
        Path sockets = folder.sockets();
        Path own = MachineFolder.networkBeside(sockets);
        Path errors = own.resolve(ERRORS);
        try {
            Files.createDirectory(own, MachineFolder.OWNER_ONLY);
            try (var listener = MachineSockets.listen(own.resolve(MONITOR))) {
                Box box = Box.in(own).writable(own).network();
                qemu.open(box);
                Process process = box.start(arguments(qemu), errors);
                try {
                    ChildProcess.endWithUs(process, GRACE);
                    var channel = MachineSockets.accept(listener, process, TIMEOUT);
                    var monitor = QmpClient.over(channel, event -> {}, TIMEOUT);
                    ProcessHandle inside = box.inside(process);
                    box.limitThreads(inside);
                    awaitSocket(own.resolve(SOCKET), process);
                    Path socket = Files.move(own.resolve(SOCKET), sockets.resolve(SOCKET));
                    box.takeBack(socket);
                    MachineFolder.closeNetwork(own);
                    return new UserNetwork(process, inside, box, errors, monitor);
                } catch (VmException e) {
                    process.destroyForcibly();
                    throw Confinement.asReason(e, "the VM's network said: " + QemuProcess.lastWords(errors));
                }
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, "the VM's network could not be set up in " + own, e);
        }
    }

    /// QEMU makes it on another thread, and its monitor may answer before.
    private static void awaitSocket(Path socket, Process process) throws VmException {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!Files.exists(socket)) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                throw new VmException(Code.QEMU_FAILED, "the VM's network does not listen");
            }
            LockSupport.parkNanos(LOOK_EVERY_NS);
        }
    }

    private static List<String> arguments(Qemu qemu) {
        var argv = new ArrayList<>(qemu.program());
        argv.addAll(List.of("-nodefaults", "-no-user-config", "-display", "none", "-machine", "none"));
        argv.addAll(List.of("-sandbox", Qemu.SANDBOX));
        argv.addAll(List.of("-chardev", "socket,id=qmp,path=" + MONITOR, "-mon", "chardev=qmp,mode=control"));
        argv.addAll(List.of("-netdev", "user,id=out,restrict=off"));
        argv.addAll(List.of("-netdev", "stream,id=guest,server=on,addr.type=unix,addr.path=" + SOCKET));
        for (String each : List.of("out", "guest")) {
            argv.addAll(List.of("-netdev", "hubport,id=" + each + "-port,hubid=0,netdev=" + each));
        }
        return argv;
    }

    /// The process itself, and not one around it.
    ProcessHandle inside() {
        return inside;
    }

    /// Ends it at once.
    void end() {
        if (!inside.destroyForcibly()) {
            process.destroyForcibly();
        }
    }

    /// Calls `listener` once it has ended, with what it said.
    void onEnd(Consumer<String> listener) {
        var unused = process.onExit().thenAccept(ended -> listener.accept(QemuProcess.lastWords(errors)));
    }

    @Override
    public void close() throws VmException {
        process.destroyForcibly();
        try (monitor) {
            if (!process.waitFor(TIMEOUT)) {
                throw new VmException(Code.QEMU_FAILED, "the VM's network, process " + process.pid() + ", did not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while the VM's network ended", e);
        }
        box.end();
    }
}
