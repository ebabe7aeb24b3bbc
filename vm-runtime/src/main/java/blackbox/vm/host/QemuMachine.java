package blackbox.vm.host;

import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.guest.ClockKeeper;
import blackbox.vm.guest.GuestControl;
import blackbox.vm.machine.AgentCommand;
import blackbox.vm.machine.ClockDrift;
import blackbox.vm.machine.ClockPace;
import blackbox.vm.machine.ClockReading;
import blackbox.vm.machine.GuestEntropy;
import blackbox.vm.machine.GuestMessage.Exit;
import blackbox.vm.machine.GuestMessage.Started;
import blackbox.vm.machine.GuestMessage.Told;
import blackbox.vm.machine.GuestMessage.TracerEnded;
import blackbox.vm.machine.Machine;
import blackbox.vm.machine.MachineBrake;
import blackbox.vm.machine.StartFacts;
import blackbox.vm.machine.Terminal;
import blackbox.vm.machine.Tier;
import blackbox.vm.process.MachineFolder;
import blackbox.vm.process.MachineSockets;
import blackbox.vm.process.QemuArguments;
import blackbox.vm.process.QemuProcess;
import blackbox.vm.process.StateDisk;
import blackbox.vm.workspace.TarFilter;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A machine that QEMU runs, as a child process in its own folder.
public final class QemuMachine implements Machine {
    private static final Duration EXACT_SETTLE_TIME = Duration.ofSeconds(1);
    private static final Duration OUTPUT_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration CLOCK_TIMEOUT = Duration.ofSeconds(5);

    private final MachineFolder folder;
    private final QemuProcess qemu;
    private final GuestControl control;
    private final GuestChannels ends;
    private final StartFacts facts;
    private final Clocks clocks;
    private volatile @Nullable ClockKeeper keeper;
    private LongConsumer bootClock = ktimeNs -> {};
    /// Owned by the thread that steers the clock.
    private long lastTold;

    QemuMachine(
            MachineFolder folder,
            QemuProcess qemu,
            GuestControl control,
            GuestChannels ends,
            StartFacts facts,
            Clocks clocks) {
        this.folder = folder;
        this.qemu = qemu;
        this.control = control;
        this.ends = ends;
        this.facts = facts;
        this.clocks = clocks;
    }

    /// Time and randomness, injected.
    record Clocks(InstantSource wall, RandomGenerator random) {}

    @Override
    public StartFacts facts() {
        return facts;
    }

    @Override
    public InputStream events() {
        return ends.events();
    }

    @Override
    public Path hiddenFolder() throws VmException {
        return folder.hidden();
    }

    @Override
    public InputStream framesOut() {
        return qemu.framesOut();
    }

    @Override
    public InputStream framesIn() {
        return qemu.framesIn();
    }

    @Override
    public SocketChannel network() {
        return qemu.sockets().channel(MachineSockets.Port.NET);
    }

    /// What the kernel and the guest's first process wrote to the console; gone after [#close].
    public Path console() {
        return folder.file(QemuArguments.CONSOLE);
    }

    @Override
    public void onBootClock(LongConsumer listener) {
        bootClock = listener;
    }

    @Override
    public void onSynced(LongConsumer listener) {
        control.onSynced(listener);
    }

    @Override
    public void onTracerEnded(Consumer<TracerEnded> listener) {
        control.onTracerEnded(listener);
    }

    /// Asks the guest for its clocks.
    public ClockReading ping() throws VmException {
        return control.ping(clocks.wall());
    }

    /// Prepares the agent with entropy of its own and launches it now.
    public Started startAgent(AgentCommand command, InputStream in, OutputStream out, OutputStream error)
            throws VmException {
        prepareAgent(command, GuestEntropy.from(clocks.random()), in, out, error);
        return launchAgent(clocks.wall().instant());
    }

    @Override
    public void prepareAgent(
            AgentCommand command, GuestEntropy entropy, InputStream in, OutputStream out, OutputStream error)
            throws VmException {
        long room = command.limits().diskBytesMax();
        if (room != 0 && facts.workspace().bytes() > room) {
            throw new VmException(
                    Code.WORKSPACE_TOO_LARGE,
                    "the workspace has " + facts.workspace().bytes() + " bytes, more than the agent's disk may hold, "
                            + room + "; allow it more, or choose a smaller folder");
        }
        ends.streams().start(in, out, error);
        control.prepare(command, entropy, facts.workspace().bytes());
    }

    @Override
    public Started launchAgent(Instant now) throws VmException {
        Started started = control.launch(now);
        if (facts.tier() == Tier.EXACT) {
            keeper = ClockKeeper.start(control, clocks.wall(), qemu.process(), qemu.gate(), bootClock);
        }
        return started;
    }

    @Override
    public @Nullable Told tellClock(Instant time, ClockPace pace) throws VmException, InterruptedException {
        if (facts.tier() == Tier.EXACT) {
            throw new IllegalStateException("in the exact tier the clock is kept in step with the host's");
        }
        return control.tellClock(++lastTold, time, pace, CLOCK_TIMEOUT);
    }

    @Override
    public @Nullable ClockDrift clockDrift() {
        ClockKeeper kept = keeper;
        return kept == null ? null : kept.drift();
    }

    private void leaveClock() {
        ClockKeeper kept = keeper;
        if (kept != null) {
            kept.close();
        }
    }

    @Override
    public void copyWorkspaceIn(Path target) throws VmException {
        new WorkspaceDisk(folder.file(QemuArguments.WORKSPACE_IN))
                .copyOut(facts.workspace().bytes(), target);
    }

    @Override
    public Exit awaitExit(Duration timeout) throws VmException {
        long from = System.nanoTime();
        Exit exit = control.awaitExit(timeout);
        leaveClock();
        Duration left = timeout.minusNanos(System.nanoTime() - from);
        ends.streams().awaitEnd(left.compareTo(OUTPUT_TIMEOUT) > 0 ? left : OUTPUT_TIMEOUT);
        return exit;
    }

    @Override
    public void abandonOutput() {
        ends.streams().abandon();
    }

    @Override
    public MachineBrake brake() {
        return qemu.brake();
    }

    @Override
    public void signalAgent(int number) throws VmException {
        control.signal(number);
    }

    @Override
    public void resizeTerminal(Terminal terminal) throws VmException {
        control.resize(terminal);
    }

    @Override
    public void drain(Duration timeout) throws VmException {
        control.drain(timeout);
    }

    @Override
    public WorkspaceDisk.Unpacked collect(Path target, TarFilter.Limits limits, Duration timeout) throws VmException {
        long bytes = control.collect(timeout);
        return new WorkspaceDisk(folder.file(QemuArguments.WORKSPACE_OUT)).unpack(bytes, target, limits);
    }

    @Override
    public boolean powerOff(Duration timeout) throws VmException {
        leaveClock();
        ends.letGo();
        try {
            control.powerOff();
            if (qemu.awaitEnd(timeout)) {
                ends.finish();
                return true;
            }
        } catch (VmException e) {
            if (e.code() != Code.QEMU_FAILED) {
                throw e;
            }
        }
        qemu.end();
        ends.finish();
        return false;
    }

    @Override
    public void copyDisk(Path target) throws VmException {
        if (qemu.alive()) {
            throw new VmException(Code.BUSY, "the VM is still running, and its disk in use");
        }
        if (qemu.endedBySignal()) {
            throw new VmException(Code.QEMU_FAILED, "QEMU was killed before it had written all of the VM's disk");
        }
        StateDisk of = facts.snapshotDigest() == null ? StateDisk.RAW : StateDisk.OVERLAY;
        of.copy(folder, target);
    }

    @Override
    public @Nullable Duration settleDisks() {
        if (facts.tier() == Tier.EXACT && qemu.alive()) {
            // The disks of a machine whose every step is logged must not be queried; they are seldom a
            // millisecond behind.
            return EXACT_SETTLE_TIME;
        }
        try {
            qemu.settleDisks();
            return Duration.ZERO;
        } catch (VmException e) {
            return null;
        }
    }

    /// Whether QEMU is running.
    public boolean alive() {
        return qemu.alive();
    }

    @Override
    public void kill() throws VmException {
        ends.letGo();
        try {
            qemu.kill();
        } finally {
            ends.streams().abandon();
        }
    }

    @Override
    public void close() throws VmException {
        leaveClock();
        ends.letGo();
        try (folder;
                ends;
                qemu) {
            return;
        }
    }
}
