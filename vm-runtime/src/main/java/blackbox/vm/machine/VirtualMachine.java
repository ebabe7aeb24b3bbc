package blackbox.vm.machine;

import blackbox.vm.Json;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.machine.GuestMessage.Collected;
import blackbox.vm.machine.GuestMessage.Drained;
import blackbox.vm.machine.GuestMessage.Exit;
import blackbox.vm.machine.GuestMessage.Pong;
import blackbox.vm.machine.GuestMessage.Prepared;
import blackbox.vm.machine.GuestMessage.Started;
import blackbox.vm.workspace.TarFilter;
import blackbox.vm.workspace.WorkspaceDisk;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongConsumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A running machine with an agent in it, or about to be. Its owner is one thread, which calls the steps in
/// order: [#prepareAgent], [#launchAgent], [#awaitExit], [#drain], [#collect], [#powerOff], [#close]; [#kill]
/// may come from any thread at any time. [#events], [#framesOut] and [#framesIn] must be read, each by a
/// thread of its own, from the start to their end.
public final class VirtualMachine implements AutoCloseable {
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(20);
    /// Unpacking a workspace of gigabytes under emulation is what takes long.
    private static final Duration START_TIMEOUT = Duration.ofMinutes(10);

    private static final Duration EXACT_SETTLE_TIME = Duration.ofSeconds(1);
    private static final Duration OUTPUT_TIMEOUT = Duration.ofSeconds(20);

    private final MachineFolder folder;
    private final QemuProcess qemu;
    private final GuestControl control;
    private final GuestEnds ends;
    private final StartFacts facts;
    private final Clocks clocks;
    private long lastPing = 1;
    private volatile @Nullable ClockKeeper keeper;
    private LongConsumer bootClock = ktimeNs -> {};

    VirtualMachine(
            MachineFolder folder,
            QemuProcess qemu,
            GuestControl control,
            GuestEnds ends,
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

    /// How it came up.
    public StartFacts facts() {
        return facts;
    }

    /// The tracer's bytes, from its start on: in a restored machine first those from before the snapshot.
    /// Ends when the machine does.
    public InputStream events() {
        return ends.events();
    }

    /// Every frame that the machine's interface sent, as a pcap stream (LINKTYPE_ETHERNET, microseconds).
    /// Ends when the machine does. It is a pipe: read it on a platform thread, for a virtual one would keep
    /// its carrier.
    public InputStream framesOut() {
        return qemu.framesOut();
    }

    /// Every frame that it was sent, in the same form.
    public InputStream framesIn() {
        return qemu.framesIn();
    }

    /// The other end of the machine's interface, where its network is [Network#PEER]. Each frame in both
    /// directions is an unsigned 32-bit length, most significant octet first, and that many octets of
    /// Ethernet. The guest's frames wait for whoever reads.
    public SocketChannel network() {
        return qemu.sockets().channel(MachineSockets.Port.NET);
    }

    /// What the kernel and the guest's first process wrote to the console; gone after [#close].
    public Path console() {
        return folder.file(QemuArguments.CONSOLE);
    }

    /// Has `listener` hear what the guest's boot clock shows whenever it says so, on a thread that it must not block:
    /// in the exact tier often, while its agent runs; in the live tier never. Before the agent is launched.
    public void onBootClock(LongConsumer listener) {
        bootClock = listener;
    }

    /// Asks the guest for its clocks.
    public ClockReading ping() throws VmException {
        return ping(control, clocks.wall(), ++lastPing);
    }

    static ClockReading ping(GuestControl control, InstantSource wall, long id) throws VmException {
        Instant before = wall.instant();
        long asked = System.nanoTime();
        control.say(Json.object().put("op", "ping").put("id", id));
        Pong pong = control.await(Pong.class, "answer", ANSWER_TIMEOUT);
        long roundTrip = System.nanoTime() - asked;
        return new ClockReading(before.plusNanos(roundTrip / 2), pong.bootNanos(), pong.wallNanos(), roundTrip);
    }

    /// Prepares the agent with entropy of its own and launches it now.
    public Started startAgent(AgentCommand command, InputStream in, OutputStream out, OutputStream error)
            throws VmException {
        prepareAgent(command, GuestEntropy.from(clocks.random()), in, out, error);
        return launchAgent(clocks.wall().instant());
    }

    /// Puts everything in place for the agent, its workspace above all; returns when it waits for its launch. Input and
    /// output are copied by threads of this machine's.
    ///
    /// @param entropy for the guest's random generator
    public void prepareAgent(
            AgentCommand command, GuestEntropy entropy, InputStream in, OutputStream out, OutputStream error)
            throws VmException {
        ends.streams().start(in, out, error);
        control.say(command.start(facts.workspace().bytes(), entropy.octets()));
        control.await(Prepared.class, "get ready for the agent", START_TIMEOUT);
    }

    /// Has the guest set its wall clock to `now` and execute the agent at once. In the exact tier its clock is then
    /// kept with the host's until the agent has ended.
    public Started launchAgent(Instant now) throws VmException {
        control.say(Json.object().put("op", "launch").put("wallNs", ClockKeeper.nanos(now)));
        Started started = control.await(Started.class, "start the agent", START_TIMEOUT);
        if (facts.tier() == Tier.EXACT) {
            keeper = ClockKeeper.start(control, clocks.wall(), qemu.process(), bootClock);
        }
        return started;
    }

    /// How well the guest's clock has kept the host's time since the agent's launch; null in the live tier, where it
    /// keeps that by itself. Any thread.
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

    /// Copies the archive that went in to `target`, which must not exist; only this user may read it.
    public void copyWorkspaceIn(Path target) throws VmException {
        new WorkspaceDisk(folder.file(QemuArguments.WORKSPACE_IN))
                .copyOut(facts.workspace().bytes(), target);
    }

    /// Waits for the agent's end and for the last byte of its output.
    ///
    /// @throws VmException `TIMEOUT` when it runs longer than `timeout`: it still runs then
    public Exit awaitExit(Duration timeout) throws VmException {
        Exit exit = control.await(Exit.class, "end the agent", timeout);
        leaveClock();
        ends.streams().awaitEnd(OUTPUT_TIMEOUT);
        return exit;
    }

    /// Sends the agent's first process a signal, by Linux's number.
    public void signalAgent(int number) throws VmException {
        control.say(Json.object().put("op", "signal").put("number", number));
    }

    /// Makes the tracer send everything that it still has; returns when it has done so.
    public void drain(Duration timeout) throws VmException {
        control.say("drain");
        control.await(Drained.class, "drain the tracer", timeout);
    }

    /// Copies the guest's workspace into `target`, which must not exist. Ends what is left of the agent's
    /// processes.
    public WorkspaceDisk.Unpacked collect(Path target, TarFilter.Limits limits, Duration timeout) throws VmException {
        control.say("collect");
        Collected collected = control.await(Collected.class, "collect the workspace", timeout);
        return new WorkspaceDisk(folder.file(QemuArguments.WORKSPACE_OUT)).unpack(collected.bytes(), target, limits);
    }

    /// Lets the guest end in order; kills it when it does not within `timeout`. Returns whether it ended by
    /// itself.
    public boolean powerOff(Duration timeout) throws VmException {
        leaveClock();
        try {
            control.say("poweroff");
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

    /// Waits until what the disks have been told so far is done: what a file of theirs holds up to the
    /// length that it had before this call will not change any more. Returns at once when QEMU has ended,
    /// for then all of it is done. Any thread.
    ///
    /// @throws VmException `TIMEOUT` when the disks take too long: ask again later
    public void settleDisks() throws VmException {
        if (facts.tier() == Tier.EXACT) {
            // Nothing may be asked of the disks of a machine whose every step is logged; they are seldom a
            // millisecond behind.
            boolean unused = qemu.awaitEnd(EXACT_SETTLE_TIME);
        } else {
            qemu.settleDisks();
        }
    }

    /// Whether QEMU runs.
    public boolean alive() {
        return qemu.alive();
    }

    /// Ends the machine at once. The streams end.
    public void kill() throws VmException {
        qemu.kill();
    }

    /// Ends the machine when it still runs, and removes everything it had on the host.
    @Override
    public void close() throws VmException {
        leaveClock();
        try (folder;
                ends;
                qemu) {
            return;
        }
    }
}
