package blackbox.node.replay;

import blackbox.node.record.Captures;
import blackbox.node.record.GuestFeeds;
import blackbox.node.record.VmLog;
import blackbox.node.replay.RecordedAgent.GuestTimes;
import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.HostClock;
import blackbox.replay.cassette.Cassette;
import blackbox.replay.cassette.CassettePeer.Played;
import blackbox.replay.cassette.Miss;
import blackbox.replay.cassette.PeerLink;
import blackbox.replay.verdict.ClockOffset;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.GuestImage;
import blackbox.vm.machine.AgentCommand;
import blackbox.vm.machine.ClockReading;
import blackbox.vm.machine.GuestEntropy;
import blackbox.vm.machine.GuestMessage.Exit;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.StartFacts;
import blackbox.vm.machine.VirtualMachine;
import blackbox.vm.machine.VmHost;
import blackbox.vm.machine.VmRequest;
import blackbox.vm.workspace.TarFilter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Executes what was recorded once more, in a machine that reaches nothing but a cassette. What the guest
/// does and what its interface carries becomes events as in a recording, but nothing is sealed, kept or
/// published. One object, one execution, one thread.
final class Reexecution {
    private static final Duration DRAIN_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration COLLECT_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration POWER_OFF_TIMEOUT = Duration.ofSeconds(10);

    private final Path data;
    private final VmHost host;
    private final ReplayClock wall;
    private final HostClock clock;
    private final EventTape tape;
    private volatile @Nullable RecorderException failure;
    private long startedNs;

    /// What to execute.
    ///
    /// @param image the very image
    /// @param memoryMib as recorded
    /// @param workspace archive or folder, null for none
    /// @param command as recorded, with the values of its environment
    /// @param entropy what the recorded guest was given, null when that is not known
    /// @param startedAt when the recorded run began
    /// @param times what the recorded guest's clock showed, null when that is not known
    record Given(
            GuestImage image,
            int memoryMib,
            @Nullable Path workspace,
            AgentCommand command,
            @Nullable GuestEntropy entropy,
            Instant startedAt,
            @Nullable GuestTimes times,
            Duration patience) {}

    /// What came of it.
    ///
    /// @param facts how the machine came up
    /// @param exit how the agent ended, null when it did not in time
    /// @param clock how the guest's clock differed from the recorded one, null where that is not known
    record Result(
            StartFacts facts, @Nullable Exit exit, @Nullable ClockOffset clock, Played played) {}

    private Reexecution(Path data, VmHost host, ReplayClock wall, EventTape tape) {
        this.data = data;
        this.host = host;
        this.wall = wall;
        this.clock = new HostClock(wall);
        this.tape = tape;
    }

    /// Gets ready to execute with the machine's QEMU.
    static Reexecution in(Path data, EventTape tape, Consumer<String> says) throws VmException {
        var wall = new ReplayClock(InstantSource.system());
        return new Reexecution(data, VmHost.open(data, wall, new SecureRandom(), says::accept), wall, tape);
    }

    /// Executes.
    ///
    /// @throws VmException when the machine fails
    /// @throws RecorderException when the events cannot be kept
    /// @throws IOException when the cassette cannot be played to the end
    Result run(Given given, Cassette cassette)
            throws VmException, RecorderException, IOException, InterruptedException {
        var log = new VmLog(clock);
        var request =
                new VmRequest(given.image(), given.memoryMib(), Network.PEER, given.workspace(), VmRequest.Start.WARM);
        try (VirtualMachine vm = host.start(request, log::hear);
                var link = new PeerLink(vm.network(), cassette, this::miss)) {
            align(vm.facts().clock(), wall.set(given.startedAt()));
            var feeds = new GuestFeeds(
                    vm, keeper(), clock, GuestFeeds.cpuSeq(vm.facts()), log, Captures.none(), why -> kill(vm));
            Exit exit;
            try {
                exit = agent(vm, given, feeds);
            } finally {
                feeds.expectSilence();
                vm.powerOff(POWER_OFF_TIMEOUT);
            }
            feeds.finish();
            if (exit != null) {
                tape.append(
                        new Event.RunClose(EventHeader.host(clock.nowNs()), 0, 0, exit.code(), exit.signal(), "{}"));
            }
            tape.finish();
            check();
            return new Result(vm.facts(), exit, offset(given.times(), exit), link.awaitEnd());
        }
    }

    private void align(ClockReading read, Duration moved) {
        Instant host = read.host().plus(moved);
        clock.align(read.guestBootNanos(), host.getEpochSecond() * 1_000_000_000L + host.getNano());
    }

    private @Nullable Exit agent(VirtualMachine vm, Given given, GuestFeeds feeds)
            throws VmException, InterruptedException {
        Exit exit = null;
        InputStream nothing = InputStream.nullInputStream();
        OutputStream nowhere = OutputStream.nullOutputStream();
        try {
            launch(vm, given, nothing, nowhere);
            exit = vm.awaitExit(given.patience());
            vm.drain(DRAIN_TIMEOUT);
            collect(vm);
            vm.drain(DRAIN_TIMEOUT);
            return exit;
        } catch (VmException e) {
            if (Thread.interrupted()) {
                vm.kill();
                throw new InterruptedException("the replay was interrupted");
            }
            if (e.code() != Code.TIMEOUT) {
                throw e;
            }
            if (exit != null) {
                feeds.missTheLast();
            }
            return exit;
        }
    }

    /// The agent begins at the very time at which the recorded one began, where that is known; how long the workspace
    /// takes to unpack is not the agent's to see.
    private void launch(VirtualMachine vm, Given given, InputStream nothing, OutputStream nowhere) throws VmException {
        GuestEntropy recorded = given.entropy();
        GuestEntropy entropy = recorded == null ? GuestEntropy.from(new SecureRandom()) : recorded;
        vm.prepareAgent(given.command(), entropy, nothing, nowhere, nowhere);
        GuestTimes times = given.times();
        if (times != null) {
            clock.shift(wall.set(times.start()));
        }
        startedNs = vm.launchAgent(wall.instant()).wallNanos();
    }

    private @Nullable ClockOffset offset(@Nullable GuestTimes recorded, @Nullable Exit exit) {
        return recorded == null
                ? null
                : recorded.offsetOf(new GuestTimes(startedNs, exit == null ? null : (Long) exit.wallNanos()));
    }

    /// The workspace comes back as it did from the recorded machine, whose tracer saw that; nobody keeps it.
    private void collect(VirtualMachine vm) throws VmException {
        try (var scratch = ScratchFolder.in(new DataFolder(data).cache(), ".replayed-")) {
            vm.collect(scratch.path().resolve("workspace"), TarFilter.Limits.DEFAULT, COLLECT_TIMEOUT);
        } catch (VmException e) {
            if (e.code() != Code.WORKSPACE_REFUSED && e.code() != Code.DISK_FULL) {
                throw e;
            }
        }
    }

    private void miss(Miss miss) {
        try {
            tape.append(new Event.NetMiss(
                    EventHeader.host(clock.nowNs()), miss.kind().name(), miss.json()));
        } catch (RecorderException e) {
            failure = e;
        }
    }

    private GuestFeeds.Keeper keeper() {
        return new GuestFeeds.Keeper() {
            @Override
            public void record(Event event) throws RecorderException {
                tape.append(event);
            }

            @Override
            public @Nullable RecorderException failure() {
                return failure;
            }
        };
    }

    private void check() throws RecorderException {
        RecorderException why = failure;
        if (why != null) {
            throw why;
        }
    }

    /// Ends the machine because its events cannot be kept: the thread that waits for the agent hears of it.
    private void kill(VirtualMachine vm) {
        try {
            vm.kill();
        } catch (VmException e) {
            failure = new RecorderException(RecorderException.Code.CAPTURE, "the machine cannot be ended", e);
        }
    }
}
