package blackbox.node.control;

import blackbox.node.control.ControlAnswer.Outcome;
import blackbox.node.control.ControlRequest.Command;
import blackbox.recorder.Detail;
import blackbox.recorder.RecorderException;
import blackbox.recorder.feed.GuestFeeds;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.seal.RunRecorder;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.vm.VmException;
import blackbox.vm.machine.ClockPace;
import blackbox.vm.machine.GuestMessage.Told;
import blackbox.vm.machine.Machine;
import blackbox.vm.machine.MachineBrake;
import blackbox.vm.machine.MachineBrake.State;
import blackbox.vm.machine.Tier;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/// Pauses, continues and ends the run of this process, and has the record say who wanted it and why. First the machine
/// stops, then that is sealed, and only then is it answered. Safe to share; one command at a time.
public final class RunControl {

    private static final String RUNNING = "running";
    private static final String PAUSED = "paused";
    private static final String ENDED = "ended";
    private static final String UNKNOWN = "unknown";

    /// Less is within what the time of asking costs.
    private static final long ASTRAY_NS_MIN = 50_000_000;

    private final Machine vm;
    private final MachineBrake brake;
    private final GuestFeeds feeds;
    private final HostClock clock;
    private final RunRecorder recorder;
    private final PauseGate gate;
    private final Runnable end;
    private final CountDownLatch began = new CountDownLatch(1);
    private long pausedAtBootNs;
    private long pausedAt;
    private boolean closed;

    /// @param gate those who wait for the guest look at it
    /// @param end ends the machine, and says so in the run's close
    public RunControl(
            Machine vm, GuestFeeds feeds, HostClock clock, RunRecorder recorder, PauseGate gate, Runnable end) {
        this.vm = vm;
        this.brake = vm.brake();
        this.feeds = feeds;
        this.clock = clock;
        this.recorder = recorder;
        this.gate = gate;
        this.end = end;
    }

    /// From now on there is something to pause: commands that came earlier have waited.
    public void begin() {
        began.countDown();
    }

    /// Nothing is carried out or sealed any more: the run's close comes next.
    synchronized void close() {
        closed = true;
    }

    /// Carries out a command.
    ///
    /// @param user of this host, who owns the process that asks
    /// @throws RecorderException if the record cannot say it; a machine that was to stop has stopped all the same
    ControlAnswer carryOut(ControlRequest request, String user) throws RecorderException, InterruptedException {
        if (request.command() != Command.PROBE) {
            began.await();
        }
        long from = System.nanoTime();
        synchronized (this) {
            if (closed) {
                return ControlAnswer.refused("the run has ended");
            }
            return switch (request.command()) {
                case PAUSE -> pause(request, user, from);
                case RESUME -> resume(request, user, from);
                case KILL -> kill(request, user, from);
                case PROBE -> probe(from);
            };
        }
    }

    /// Records that the way of commands did not lead here.
    synchronized void unreachable(String why) throws RecorderException {
        if (closed) {
            return;
        }
        seal(Kind.CONTROL_PROBE, "failed", Detail.empty().and("why", why));
    }

    private ControlAnswer pause(ControlRequest request, String user, long from)
            throws RecorderException, InterruptedException {
        if (gate.isShut()) {
            return sealed(request, user, answer(Outcome.ALREADY, PAUSED, from, null));
        }
        if (!gate.shut()) {
            return sealed(request, user, answer(Outcome.REFUSED, UNKNOWN, from, "the command has ended already"));
        }
        feeds.expectSilence(true);
        Stopped stopped = stop(from);
        if (stopped.trouble() != null && !isHeld()) {
            gate.open();
            feeds.expectSilence(false);
            return sealed(request, user, answer(Outcome.FAILED, UNKNOWN, from, stopped.trouble()));
        }
        return sealed(request, user, new ControlAnswer(Outcome.DONE, PAUSED, stopped.tookNs(), stopped.trouble()));
    }

    /// @param tookNs until the guest stood still
    /// @param trouble what did not go as it should, or null
    private record Stopped(long tookNs, @Nullable String trouble) {}

    /// Stops the guest, and then its hypervisor once it has passed on what the guest had said.
    private Stopped stop(long from) throws InterruptedException {
        String trouble = null;
        long tookNs = 0;
        try {
            brake.stop();
            tookNs = System.nanoTime() - from;
        } catch (VmException e) {
            trouble = e.getMessage();
        }
        pausedAtBootNs = clock.bootNs();
        pausedAt = System.nanoTime();
        // A hypervisor that does not stop its guest is not waited for.
        if (trouble == null && !feeds.awaitQuiet()) {
            trouble = "the guest's events did not come to an end";
        }
        try {
            brake.hold();
        } catch (VmException e) {
            trouble = e.getMessage();
        }
        if (tookNs == 0) {
            tookNs = System.nanoTime() - from;
            feeds.awaitQuiet();
        }
        return new Stopped(tookNs, trouble);
    }

    private boolean isHeld() {
        try {
            return brake.look() == State.HELD;
        } catch (VmException e) {
            return false;
        }
    }

    /// It is sealed before the guest goes on, so that what the guest does then comes after it.
    private ControlAnswer resume(ControlRequest request, String user, long from)
            throws RecorderException, InterruptedException {
        if (!gate.isShut()) {
            return sealed(request, user, answer(Outcome.ALREADY, RUNNING, from, null));
        }
        ControlAnswer begun = sealed(request, user, answer(Outcome.DONE, RUNNING, from, null));
        if (clock.pace() == HostClock.Pace.SHARED) {
            clock.forward(pausedAtBootNs, System.nanoTime() - pausedAt);
        }
        try {
            brake.release();
        } catch (VmException e) {
            return sealed(request, user, answer(Outcome.FAILED, UNKNOWN, from, e.getMessage()));
        }
        ControlAnswer done = answer(begun.outcome(), RUNNING, from, null);
        gate.open();
        feeds.expectSilence(false);
        return setClock() ? done : answer(done.outcome(), RUNNING, from, "the guest's clock could not be set");
    }

    /// A guest that stood still has a wall clock that is late. In the exact tier it is kept in step in any case.
    private boolean setClock() throws InterruptedException {
        if (vm.facts().tier() == Tier.EXACT) {
            return true;
        }
        try {
            Told told = vm.tellClock(Instant.now(), ClockPace.FULL);
            if (told == null) {
                return false;
            }
            // Where its boot clock went on meanwhile, the mapping must not be moved twice.
            long astray = clock.bootNs() - told.bootNanos();
            if (Math.abs(astray) > ASTRAY_NS_MIN) {
                clock.forward(pausedAtBootNs, astray);
            }
            return true;
        } catch (VmException e) {
            return false;
        }
    }

    private ControlAnswer kill(ControlRequest request, String user, long from)
            throws RecorderException, InterruptedException {
        gate.shut();
        feeds.expectSilence(true);
        Stopped stopped = stop(from);
        try {
            return sealed(request, user, new ControlAnswer(Outcome.DONE, ENDED, stopped.tookNs(), stopped.trouble()));
        } finally {
            end.run();
        }
    }

    private ControlAnswer probe(long from) throws RecorderException {
        String machine;
        String why = null;
        try {
            machine = brake.look() == State.RUNNING ? RUNNING : PAUSED;
        } catch (VmException e) {
            machine = "failed";
            why = String.valueOf(e.getMessage());
        }
        if (!machine.equals("failed") && machine.equals(PAUSED) != gate.isShut()) {
            why = gate.isShut() ? "it was to be paused" : "nobody paused it";
        }
        ControlAnswer answer = answer(why == null ? Outcome.DONE : Outcome.FAILED, machine, from, why);
        Detail detail = Detail.of("tookNs", answer.tookNs());
        seal(Kind.CONTROL_PROBE, machine, why == null ? detail : detail.and("why", why));
        return answer;
    }

    private static ControlAnswer answer(Outcome outcome, String machine, long from, @Nullable String why) {
        return new ControlAnswer(outcome, machine, System.nanoTime() - from, why);
    }

    private ControlAnswer sealed(ControlRequest request, String user, ControlAnswer answer) throws RecorderException {
        Detail detail = Detail.empty()
                .and("outcome", answer.outcome().word())
                .and("machine", answer.machine())
                .and("tookNs", answer.tookNs())
                .and("user", user)
                .and("via", request.via())
                .and("reason", request.reason());
        String subject = request.subject();
        if (subject != null) {
            detail.and("subject", subject);
        }
        String why = answer.why();
        seal(Kind.CONTROL_COMMAND, request.command().word(), why == null ? detail : detail.and("why", why));
        recorder.flush();
        return answer;
    }

    private void seal(Kind kind, String what, Detail detail) throws RecorderException {
        recorder.accept(new Event.Control(kind, EventHeader.host(clock.nowNs()), what, detail.toString()));
    }
}
