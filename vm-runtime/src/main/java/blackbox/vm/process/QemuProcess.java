package blackbox.vm.process;

import blackbox.vm.ChildProcess;
import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.confine.Box;
import blackbox.vm.confine.Confinement;
import blackbox.vm.confine.Tail;
import blackbox.vm.guest.GuestControl;
import blackbox.vm.guest.HoldGate;
import blackbox.vm.machine.GuestMessage.HostFailure;
import blackbox.vm.machine.MachineBrake;
import blackbox.vm.machine.Network;
import blackbox.vm.qmp.QmpClient;
import blackbox.vm.qmp.QmpEvent;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// One QEMU, from its start (paused) to its end, with its monitor and its sockets.
public final class QemuProcess implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration SETTLE_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration END_TIMEOUT = Duration.ofSeconds(3);
    /// How long a machine's owner has to end it once this program was told to exit.
    private static final Duration GRACE = Duration.ofSeconds(2);
    /// Exit codes above this mean that a signal ended the process.
    private static final int SIGNALLED = 128;
    private static final HostFailure DISK_FULL = new HostFailure(
            Code.DISK_FULL, "the host's disk is full, so the VM was stopped; free some space and run again");
    private static final String LOG = "qemu.log";
    private static final int LOG_BYTES = 16 << 10;
    private static final String MIGRATION = "migration";

    private final MachineFolder folder;
    private final Box box;
    private final Process process;
    private final ProcessHandle inside;
    private final @Nullable UserNetwork network;
    private final MachineSockets sockets;
    private final FrameTap framesOut;
    private final FrameTap framesIn;
    private final QmpClient qmp;
    private final HoldGate gate = new HoldGate();
    private final QemuBrake brake;
    private final CompletableFuture<String> migrated;
    private final CompletableFuture<HostFailure> failed;

    private QemuProcess(
            MachineFolder folder,
            Box box,
            Process process,
            ProcessHandle inside,
            @Nullable UserNetwork network,
            MachineSockets sockets,
            FrameTap framesOut,
            FrameTap framesIn,
            QmpClient qmp,
            CompletableFuture<String> migrated,
            CompletableFuture<HostFailure> failed) {
        this.folder = folder;
        this.box = box;
        this.process = process;
        this.inside = inside;
        this.network = network;
        this.sockets = sockets;
        this.framesOut = framesOut;
        this.framesIn = framesIn;
        this.qmp = qmp;
        this.brake = new QemuBrake(qmp, inside, network == null ? null : network.inside(), gate);
        this.migrated = migrated;
        this.failed = failed;
    }

    /// Starts QEMU in `folder`, confined and paused. `listener` receives every event of its monitor.
    ///
    /// @throws VmException `NOT_CONFINED`
    public static QemuProcess launch(MachineFolder folder, QemuStart start, Consumer<QmpEvent> listener)
            throws VmException {
        var sockets = new MachineSockets(folder.sockets(), start.ports());
        var framesOut = new FrameTap(folder.file(QemuArguments.FRAMES_OUT));
        var framesIn = new FrameTap(folder.file(QemuArguments.FRAMES_IN));
        UserNetwork network = null;
        Box box = null;
        Process process = null;
        try {
            network = start.network() == Network.USER
                    ? UserNetwork.start(folder, start.parts().qemu())
                    : null;
            box = MachineBox.around(folder, start);
            process = box.start(start.argv(), folder.file(LOG));
            ChildProcess.endWithUs(process, GRACE);
            sockets.accept(process, START_TIMEOUT);
            ProcessHandle inside = box.inside(process);
            box.limitThreads(inside);
            var migrated = new CompletableFuture<String>();
            var failed = new CompletableFuture<HostFailure>();
            Consumer<QmpEvent> all = event -> {
                String status = event.data().path("status").asText();
                if (event.name().equals("MIGRATION") && (status.equals("completed") || status.equals("failed"))) {
                    migrated.complete(status);
                }
                if (event.name().equals("BLOCK_IO_ERROR")
                        && event.data().path("nospace").asBoolean()) {
                    failed.complete(DISK_FULL);
                }
                listener.accept(event);
            };
            var qmp = QmpClient.over(sockets.channel(MachineSockets.Port.QMP), all, COMMAND_TIMEOUT);
            framesOut.handOver();
            framesIn.handOver();
            var started = new QemuProcess(
                    folder, box, process, inside, network, sockets, framesOut, framesIn, qmp, migrated, failed);
            if (network != null) {
                network.onEnd(started::endWithoutNetwork);
            }
            DiskWatch.start(process, MachineBox.disks(folder), started::stopForDisk, inside::destroyForcibly);
            return started;
        } catch (VmException e) {
            try (UserNetwork _ = network;
                    sockets;
                    framesOut;
                    framesIn) {
                if (box == null || process == null) {
                    throw e;
                }
                process.destroyForcibly().onExit().join();
                box.end();
                throw Confinement.asReason(e, lastWords(folder.file(LOG)));
            }
        }
    }

    /// Reports that the guest has lost its network, if it still runs.
    private void endWithoutNetwork(String lastWords) {
        if (process.isAlive()) {
            failed.complete(new HostFailure(Code.QEMU_FAILED, "the VM's network has ended; " + lastWords));
        }
    }

    /// Stops the guest, if somebody controls it and so will end it; ends it where there is nobody.
    private void stopForDisk() {
        boolean stopped = failed.getNumberOfDependents() > 0;
        try {
            if (stopped) {
                qmp.execute("stop", COMMAND_TIMEOUT);
            }
        } catch (VmException e) {
            stopped = false;
        }
        failed.complete(DISK_FULL);
        if (!stopped) {
            inside.destroyForcibly();
        }
    }

    /// QEMU itself, to observe it; only this class may end it.
    public ProcessHandle process() {
        return inside;
    }

    /// How it is confined.
    public Confinement confinement() {
        return box.confinement();
    }

    public MachineSockets sockets() {
        return sockets;
    }

    /// What QEMU appends to a file, as a stream that ends with QEMU.
    public GrowingFile follow(Path file, long from) throws IOException {
        return new GrowingFile(file, from, process);
    }

    public InputStream framesOut() {
        return framesOut.frames();
    }

    public InputStream framesIn() {
        return framesIn.frames();
    }

    public QmpClient qmp() {
        return qmp;
    }

    /// Takes over the guest's control port; whatever ends the machine is reported there, too.
    public GuestControl control() {
        var control = new GuestControl(sockets.channel(MachineSockets.Port.CONTROL));
        var unused = failed.thenAccept(control::fail);
        return control;
    }

    public boolean alive() {
        return process.isAlive();
    }

    /// Whether a signal ended it: a crash, a failed assertion, a kill.
    public boolean endedBySignal() {
        return !process.isAlive() && process.exitValue() > SIGNALLED;
    }

    /// Lets the guest's processor run.
    public void resume() throws VmException {
        // From here on it may be the guest's.
        folder.closeSockets();
        qmp.execute("cont", COMMAND_TIMEOUT);
    }

    /// Stops its guest and itself from outside.
    public MachineBrake brake() {
        return brake;
    }

    /// Whoever holds it for moments asks here: not while it is stopped from outside.
    public HoldGate gate() {
        return gate;
    }

    /// Waits until all earlier disk requests are done.
    ///
    /// @throws VmException `BUSY` while the host's kernel has stopped it
    public void settleDisks() throws VmException {
        if (brake.isHeld() && process.isAlive()) {
            throw new VmException(Code.BUSY, "QEMU is stopped");
        }
        ObjectNode nothing = Json.object();
        nothing.putArray("actions");
        try {
            // QEMU drains all block devices before it starts a transaction.
            qmp.execute("transaction", nothing, SETTLE_TIMEOUT);
        } catch (VmException e) {
            if (e.code() != Code.QEMU_FAILED || !awaitEnd(END_TIMEOUT)) {
                throw e;
            }
        }
    }

    /// Stops the guest's processor and writes all of the machine's state except RAM and disks to `target`.
    public void saveDevices(Path target) throws VmException {
        qmp.execute("stop", COMMAND_TIMEOUT);
        enableMigration();
        Path socket = folder.openSockets().resolve(MIGRATION);
        try (var listener = MachineSockets.listen(socket)) {
            box.give(socket);
            qmp.execute("migrate", uri(), COMMAND_TIMEOUT);
            try (var channel = MachineSockets.accept(listener, process, COMMAND_TIMEOUT);
                    OutputStream file = Files.newOutputStream(target)) {
                Channels.newInputStream(channel).transferTo(file);
            }
        } catch (IOException e) {
            throw new VmException(Code.IO, target + " could not be written", e);
        }
        awaitMigrated("QEMU could not save the VM's devices");
    }

    /// Loads the devices that another QEMU with the same command line saved.
    public void loadDevices(Path source) throws VmException {
        enableMigration();
        // QEMU would announce to the network that the machine has moved, but nothing there knew it before.
        qmp.execute("migrate-set-parameters", Json.object().put("announce-rounds", 0), COMMAND_TIMEOUT);
        qmp.execute("migrate-incoming", uri(), COMMAND_TIMEOUT);
        Path socket = folder.sockets().resolve(MIGRATION);
        try (var channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
                OutputStream out = Channels.newOutputStream(channel)) {
            Files.copy(source, out);
        } catch (IOException e) {
            throw new VmException(Code.QEMU_FAILED, "QEMU did not accept the snapshot's devices; " + lastWords(), e);
        }
        awaitMigrated("QEMU could not load the snapshot's devices");
    }

    /// Waits for QEMU to end by itself, and for its last events to be delivered; returns false if it does not
    /// end within `timeout`.
    public boolean awaitEnd(Duration timeout) throws VmException {
        try {
            if (!process.waitFor(timeout)) {
                return false;
            }
            qmp.awaitLast(END_TIMEOUT);
            box.end();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, "interrupted while the VM ended", e);
        }
    }

    /// Ends QEMU: by its monitor, then by SIGTERM, then by SIGKILL.
    public void end() throws VmException {
        if (process.isAlive()) {
            try {
                qmp.execute("quit", END_TIMEOUT);
            } catch (VmException e) {
                inside.destroy(); // its monitor does not answer anymore
            }
        }
        if (!awaitEnd(END_TIMEOUT)) {
            inside.destroy();
            if (!awaitEnd(END_TIMEOUT)) {
                kill();
            }
        }
    }

    /// Kills QEMU at once.
    public void kill() throws VmException {
        if (!inside.destroyForcibly()) {
            process.destroyForcibly();
        }
        if (network != null) {
            network.end();
        }
        if (!awaitEnd(START_TIMEOUT)) {
            throw new VmException(
                    Code.QEMU_FAILED, "QEMU, process " + process.pid() + ", did not end after it was killed");
        }
    }

    /// The last line that QEMU wrote to its standard error.
    public String lastWords() {
        return lastWords(folder.file(LOG));
    }

    @Override
    public void close() throws VmException {
        try (network;
                sockets;
                framesOut;
                framesIn) {
            end();
        }
    }

    private void enableMigration() throws VmException {
        ObjectNode arguments = Json.object();
        var capabilities = arguments.putArray("capabilities");
        // RAM stays in its file: only devices go through the stream.
        capabilities.addObject().put("capability", "x-ignore-shared").put("state", true);
        capabilities.addObject().put("capability", "events").put("state", true);
        qmp.execute("migrate-set-capabilities", arguments, COMMAND_TIMEOUT);
    }

    private static ObjectNode uri() {
        return Json.object().put("uri", "unix:" + QemuArguments.SOCKETS + "/" + MIGRATION);
    }

    private void awaitMigrated(String otherwise) throws VmException {
        try {
            String status = migrated.get(COMMAND_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            if (!status.equals("completed")) {
                throw new VmException(Code.QEMU_FAILED, otherwise + "; " + lastWords());
            }
        } catch (TimeoutException | ExecutionException e) {
            throw new VmException(Code.QEMU_FAILED, otherwise + "; " + lastWords(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VmException(Code.TIMEOUT, otherwise + ": interrupted", e);
        }
    }

    /// The last line of what a program wrote to its standard error.
    static String lastWords(Path log) {
        try {
            return "it said: " + Tail.lastLine(log, LOG_BYTES);
        } catch (IOException e) {
            return "its log could not be read";
        }
    }
}
