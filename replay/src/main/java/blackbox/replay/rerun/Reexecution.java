package blackbox.replay.rerun;

import blackbox.gateway.tls.RunAuthority;
import blackbox.recorder.RecorderException;
import blackbox.recorder.capture.CapturedFiles;
import blackbox.recorder.capture.PrintedStream;
import blackbox.recorder.feed.GuestFeeds;
import blackbox.recorder.feed.GuestStreams;
import blackbox.recorder.feed.MachineLog;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.guest.TracerReport;
import blackbox.replay.cassette.Cassette;
import blackbox.replay.cassette.CassettePeer.Played;
import blackbox.replay.cassette.Miss;
import blackbox.replay.cassette.PeerLink;
import blackbox.replay.clock.ClockFollower;
import blackbox.replay.compare.EventTape;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.replay.output.ReplayedOutput;
import blackbox.replay.rerun.RecordedAgent.GuestTimes;
import blackbox.replay.rerun.RecordedAgent.RunTimes;
import blackbox.replay.verdict.ClockOffset;
import blackbox.schemas.Progress;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.ScratchFolder;
import blackbox.vm.VmException;
import blackbox.vm.VmException.Code;
import blackbox.vm.image.GuestImage;
import blackbox.vm.machine.AgentCommand;
import blackbox.vm.machine.AgentHandover;
import blackbox.vm.machine.ClockReading;
import blackbox.vm.machine.GuestEntropy;
import blackbox.vm.machine.GuestMessage.Exit;
import blackbox.vm.machine.Machine;
import blackbox.vm.machine.MachineHost;
import blackbox.vm.machine.MachineSize;
import blackbox.vm.machine.Network;
import blackbox.vm.machine.StartFacts;
import blackbox.vm.machine.Tier;
import blackbox.vm.machine.VmRequest;
import blackbox.vm.workspace.WorkspaceSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/// Executes again what was recorded, in a machine that can reach nothing but a cassette. What the guest does and
/// what its interface carries becomes events as in a recording, but nothing is sealed, stored or published. One
/// object, one execution, one thread.
final class Reexecution {
    private static final Duration POWER_OFF_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration DRAIN_TIMEOUT = Duration.ofMinutes(2);
    private static final int SIGKILL = 9;

    private final Path data;
    private final MachineHost host;
    private final ReplayClock wall;
    private final HostClock clock;
    private final EventTape tape;
    private final EndingTape events;
    private final ClockFollower follower;
    private final ReplayedOutput printed;
    private final @Nullable Path disk;
    private final @Nullable Path captures;
    private volatile @Nullable Miss missed;
    private volatile @Nullable VmException unkilled;
    private long startedNs;

    /// What to execute.
    ///
    /// @param image the same image
    /// @param size as recorded
    /// @param workspace as recorded, null for none
    /// @param command as recorded, with the values of its environment
    /// @param stdin as recorded
    /// @param entropy that of the recorded guest, null if it is not known
    /// @param times of the recorded run
    /// @param authority that the agent's programs trust, which opens TLS; null if the recorded gateway opened none
    /// @param onMiss what to do when something is asked that was not recorded
    record Inputs(
            GuestImage image,
            MachineSize size,
            @Nullable WorkspaceSource workspace,
            AgentCommand command,
            RecordedInput stdin,
            @Nullable GuestEntropy entropy,
            RunTimes times,
            @Nullable RunAuthority authority,
            OnMiss onMiss) {}

    /// The result.
    ///
    /// @param facts how the machine was started
    /// @param exit how the agent ended, null if it did not in time, or was ended because of `missed`
    /// @param clock how the guest's clock differed from the recorded one, null if that is not known
    /// @param missed the first request that the recording has no answer to, or null
    /// @param diskUnknown why the machine's disk was not copied, in words; null if it was, or was not to be
    /// @param unledSince from when on the guest's clock could not be led along the recorded one, null if it could
    record Result(
            StartFacts facts,
            @Nullable Exit exit,
            @Nullable ClockOffset clock,
            Played played,
            @Nullable Miss missed,
            @Nullable String diskUnknown,
            @Nullable Instant unledSince) {}

    /// Where it leaves what it does.
    ///
    /// @param recorded the run's events
    /// @param events receives the events
    /// @param printed keeps what the agent prints
    /// @param printedBytesMax the most octets of each stream
    /// @param disk where to copy the machine's disk after its end, a file that does not exist; null for nowhere
    /// @param captures an empty folder, for a machine of the exact tier with what it takes to replay it;
    ///     null for one of the live tier
    record Tapes(
            EventSource recorded,
            EventTape events,
            ReplayedOutput printed,
            long printedBytesMax,
            @Nullable Path disk,
            @Nullable Path captures) {}

    private Reexecution(Path data, MachineHost host, ReplayClock wall, Tapes tapes) {
        this.data = data;
        this.host = host;
        this.wall = wall;
        this.captures = tapes.captures();
        this.clock = new HostClock(wall, captures == null ? HostClock.Pace.SHARED : HostClock.Pace.OWN);
        this.tape = tapes.events();
        this.events = new EndingTape(tape);
        this.follower = new ClockFollower(tapes.recorded(), events);
        this.printed = tapes.printed();
        printed.keep(tapes.printedBytesMax(), clock::nowNs);
        this.disk = tapes.disk();
    }

    /// Prepares the execution.
    ///
    /// @param hosts opens what runs the machine
    static Reexecution in(Path data, MachineHost.Opener hosts, Tapes tapes, Progress progress) throws VmException {
        var wall = new ReplayClock(InstantSource.system());
        return new Reexecution(data, hosts.open(data, wall, new SecureRandom(), progress), wall, tapes);
    }

    /// Executes.
    ///
    /// @throws VmException when the machine fails
    /// @throws RecorderException when the events cannot be stored
    /// @throws IOException when the cassette cannot be played to the end
    Result run(Inputs inputs, Cassette cassette)
            throws VmException, RecorderException, IOException, InterruptedException {
        var log = new MachineLog(clock);
        var request = new VmRequest(
                inputs.image(),
                inputs.size(),
                Network.PEER,
                inputs.workspace(),
                VmRequest.Start.WARM,
                captures,
                captures == null ? Tier.LIVE : Tier.EXACT);
        try (follower;
                Machine vm = host.start(request, event -> log.hear(event.name(), event.detail(), event.halted()));
                var link = new PeerLink(
                        vm.network(), cassette, inputs.authority(), miss -> miss(miss, vm, inputs.onMiss()))) {
            align(vm.facts().clock(), wall.set(inputs.times().startedAt()));
            vm.onBootClock(clock::heard);
            var streams = new GuestStreams(vm.events(), vm.framesOut(), vm.framesIn());
            var tracer = TracerReport.of(vm.facts().ready().tracer());
            var feeds =
                    new GuestFeeds(streams, follower, clock, tracer, log, CapturedFiles.none(), null, why -> kill(vm));
            Exit exit;
            boolean byItself;
            try {
                exit = agent(vm, inputs, feeds);
            } finally {
                follower.stop();
                feeds.expectSilence();
                byItself = vm.powerOff(POWER_OFF_TIMEOUT);
            }
            feeds.finish();
            if (exit != null) {
                tape.accept(
                        new Event.RunClose(EventHeader.host(clock.nowNs()), 0, 0, exit.code(), exit.signal(), "{}"));
            }
            tape.finish();
            VmException left = unkilled;
            if (left != null) {
                throw left;
            }
            String diskUnknown = copyDisk(vm, exit, byItself);
            return new Result(
                    vm.facts(),
                    exit,
                    offset(inputs.times().guest(), exit),
                    link.awaitEnd(),
                    missed,
                    diskUnknown,
                    follower.lostAt());
        }
    }

    /// Copies the disk, if all that the agent left is on it: the guest writes back what it has in memory right
    /// before it shuts down by itself. Returns why not.
    private @Nullable String copyDisk(Machine vm, @Nullable Exit exit, boolean byItself) {
        if (disk == null) {
            return null;
        }
        if (exit == null) {
            return "the replay's command did not come to its end";
        }
        if (!byItself) {
            return "the replay's guest was ended before it had written everything to its disk";
        }
        try {
            vm.copyDisk(disk);
            return null;
        } catch (VmException e) {
            return "the replay's disk is not here: " + e.getMessage();
        }
    }

    private void align(ClockReading read, Duration moved) {
        Instant host = read.host().plus(moved);
        clock.align(read.guestBootNanos(), host.getEpochSecond() * 1_000_000_000L + host.getNano());
    }

    private @Nullable Exit agent(Machine vm, Inputs inputs, GuestFeeds feeds)
            throws VmException, IOException, InterruptedException {
        Exit exit = null;
        try (InputStream stdin = inputs.stdin().open()) {
            launch(vm, inputs, stdin);
            exit = vm.awaitExit(inputs.times().patience());
            follower.stop();
            if (missed != null && inputs.onMiss() == OnMiss.END) {
                vm.drain(DRAIN_TIMEOUT);
                return null;
            }
            handOver(vm, feeds);
            return exit;
        } catch (VmException e) {
            if (Thread.interrupted()) {
                vm.kill();
                throw new InterruptedException("the replay was interrupted");
            }
            tape.check(); // the machine was ended because its events cannot be stored
            if (e.code() != Code.TIMEOUT) {
                throw e;
            }
            if (exit != null) {
                feeds.missTheLast();
            }
            return exit;
        }
    }

    /// The agent begins at exactly the time at which the recorded one began, if that is known; the agent does
    /// not notice how long the workspace took to unpack. From then on its clock follows the recorded one, but in a
    /// machine of the exact tier, whose clock is kept in step with the replay's.
    private void launch(Machine vm, Inputs inputs, InputStream stdin) throws VmException {
        OutputStream out = printed.through(PrintedStream.STDOUT);
        OutputStream error = printed.through(PrintedStream.STDERR);
        GuestEntropy recorded = inputs.entropy();
        GuestEntropy entropy = recorded == null ? GuestEntropy.from(new SecureRandom()) : recorded;
        vm.prepareAgent(inputs.command(), entropy, stdin, out, error);
        GuestTimes times = inputs.times().guest();
        if (times != null) {
            clock.shift(wall.set(times.start()));
        }
        startedNs = vm.launchAgent(wall.instant()).wallNanos();
        if (times != null && captures == null) {
            follower.follow(new SteeredClock(vm::tellClock, wall, clock));
        } else {
            follower.stop();
        }
    }

    private @Nullable ClockOffset offset(@Nullable GuestTimes recorded, @Nullable Exit exit) {
        return recorded == null
                ? null
                : recorded.offsetOf(new GuestTimes(startedNs, exit == null ? null : (Long) exit.wallNanos()));
    }

    /// The workspace is collected as it was from the recorded machine, because the tracer sees that; it is
    /// then discarded.
    private void handOver(Machine vm, GuestFeeds feeds) throws VmException {
        try (var scratch = ScratchFolder.ofThisProcess(new DataFolder(data).cache(), ".replayed-")) {
            VmException undrained = AgentHandover.of(vm, scratch.path().resolve("workspace"), feeds::expectSilence)
                    .undrained();
            if (undrained != null) {
                throw undrained;
            }
        }
    }

    /// Called by the network's thread. The agent is killed rather than its machine, so that the tracer still
    /// reports what the agent did until then.
    private void miss(Miss miss, Machine vm, OnMiss onMiss) {
        events.accept(
                new Event.NetMiss(EventHeader.host(clock.nowNs()), miss.kind().name(), miss.json()));
        if (missed != null) {
            return;
        }
        missed = miss;
        if (onMiss == OnMiss.END) {
            events.end();
            try {
                vm.signalAgent(SIGKILL);
            } catch (VmException e) {
                kill(vm);
            }
        }
    }

    /// Ends the machine, because its events cannot be stored or its agent cannot be killed; the wait for the agent
    /// then fails.
    private void kill(Machine vm) {
        try {
            vm.kill();
        } catch (VmException e) {
            unkilled = e;
        }
    }
}
