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
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Pauses, continues and ends the run of this process, and has the record say who wanted it and why. First the machine
/// stops, then that is sealed, and only then is it answered; what ends the machine waits for nothing without limit.
/// Safe
/// to share.
public final class RunControl {

    private static final String RUNNING = "running";
    private static final String PAUSED = "paused";
    private static final String UNKNOWN = "unknown";
    private static final String FAILED = "failed";

    /// How long a kill waits for a command before it, and then for the record to say it: a disk may hang.
    private static final Duration KILL_PATIENCE = Duration.ofSeconds(3);

    /// How often a stopped guest's events may not come to an end in their time, until that is said.
    private static final int DRAINS_MAX = 6;

    /// Within what the time of asking costs.
    private static final long ASTRAY_NS_MIN = 50_000_000;

    private final Machine vm;
    private final MachineBrake brake;
    private final GuestFeeds feeds;
    private final HostClock clock;
    private final RunRecorder recorder;
    private final PauseGate gate;
    private final Ending ending;
    /// Whoever has it commands the machine.
    private final ReentrantLock commands = new ReentrantLock(true);

    private final Object sealing = new Object();
    private volatile boolean began;
    private boolean closed;
    private long pausedAtBootNs;
    private long pausedAt;

    /// @param gate those who wait for the guest look at it
    public RunControl(
            Machine vm, GuestFeeds feeds, HostClock clock, RunRecorder recorder, PauseGate gate, Ending ending) {
        this.vm = vm;
        this.brake = vm.brake();
        this.feeds = feeds;
        this.clock = clock;
        this.recorder = recorder;
        this.gate = gate;
        this.ending = ending;
    }

    /// From now on there is something to pause.
    public void begin() {
        began = true;
    }

    /// Nothing is carried out or sealed any more: the machine is about to end.
    public void close() {
        synchronized (sealing) {
            closed = true;
        }
    }

    private boolean isClosed() {
        synchronized (sealing) {
            return closed;
        }
    }

    /// Carries out a command.
    ///
    /// @param user of this host, who owns the process that asks
    /// @throws RecorderException if the record cannot say it; a machine that was to stop has stopped all the same
    ControlAnswer carryOut(ControlRequest request, String user) throws RecorderException, InterruptedException {
        if (isClosed()) {
            return ControlAnswer.refused("the run is ending");
        }
        if (request.command() == Command.PROBE) {
            return probe();
        }
        var by = new By(request, user, System.nanoTime());
        if (request.command() == Command.KILL) {
            return kill(by);
        }
        if (!began) {
            return sealed(by, by.answer(Outcome.REFUSED, UNKNOWN, "the command has not started yet; try again"));
        }
        commands.lock();
        try {
            return request.command() == Command.PAUSE ? pause(by) : resume(by);
        } finally {
            commands.unlock();
        }
    }

    /// Who asks for what.
    private record By(ControlRequest request, String user, long from) {
        ControlAnswer answer(Outcome outcome, String machine, @Nullable String why) {
            return new ControlAnswer(outcome, machine, System.nanoTime() - from, why);
        }
    }

    /// Records that the way of commands did not lead here.
    void unreachable(String why) throws RecorderException {
        seal(Kind.CONTROL_PROBE, FAILED, Detail.empty().and("why", ControlAnswer.cut(why)));
    }

    private ControlAnswer pause(By by) throws RecorderException, InterruptedException {
        if (gate.isShut() && isHeld()) {
            return sealed(by, by.answer(Outcome.ALREADY, PAUSED, null));
        }
        if (!gate.shut()) {
            return sealed(by, by.answer(Outcome.REFUSED, UNKNOWN, "the command has ended already"));
        }
        feeds.expectSilence(true);
        Stopped stopped = stop(by);
        if (isHeld()) {
            return sealed(by, new ControlAnswer(Outcome.DONE, PAUSED, stopped.tookNs(), stopped.trouble()), stopped);
        }
        ControlAnswer failed = by.answer(Outcome.FAILED, UNKNOWN, stopped.trouble());
        letGo();
        return sealed(by, failed);
    }

    /// @param tookNs until the guest stood still
    /// @param drained whether all that it had said by then has been taken in
    /// @param trouble what did not go as it should, or null
    private record Stopped(
            long tookNs, boolean drained, @Nullable String trouble) {}

    /// Stops the guest, and then its hypervisor once it has passed on what the guest had said.
    private Stopped stop(By by) throws InterruptedException {
        String trouble = null;
        pausedAtBootNs = clock.bootNs();
        pausedAt = System.nanoTime();
        try {
            brake.stop();
        } catch (VmException e) {
            trouble = e.getMessage();
        }
        long tookNs = System.nanoTime() - by.from();
        boolean stopped = trouble == null;
        // A hypervisor that does not stop its guest is not waited for.
        boolean drained = stopped && feeds.awaitQuiet();
        try {
            brake.hold();
        } catch (VmException e) {
            trouble = e.getMessage();
        }
        long heldNs = System.nanoTime() - by.from();
        // From here on only what lies between us and it can come.
        for (int i = 0; i < DRAINS_MAX && !drained; i++) {
            drained = feeds.awaitQuiet();
        }
        return new Stopped(stopped ? tookNs : heldNs, drained, trouble);
    }

    private boolean isHeld() {
        try {
            return brake.look() == State.HELD;
        } catch (VmException e) {
            return false;
        }
    }

    private boolean isRunning() {
        try {
            return brake.look() == State.RUNNING;
        } catch (VmException e) {
            return false;
        }
    }

    /// Undoes a pause that did not succeed, as far as that is possible.
    private void letGo() {
        try {
            brake.release();
        } catch (VmException _) {
            // The next probe says what it does.
        }
        gate.open();
        feeds.expectSilence(false);
    }

    /// It is sealed before the guest goes on, so that what the guest does then comes after it.
    private ControlAnswer resume(By by) throws RecorderException, InterruptedException {
        boolean wasPaused = gate.isShut();
        if (!wasPaused && isRunning()) {
            return sealed(by, by.answer(Outcome.ALREADY, RUNNING, null));
        }
        sealed(by, by.answer(Outcome.DONE, RUNNING, null));
        long pausedNs = wasPaused ? System.nanoTime() - pausedAt : 0;
        if (clock.pace() == HostClock.Pace.SHARED) {
            clock.forward(pausedAtBootNs, pausedNs);
        } else {
            clock.heard(pausedAtBootNs);
        }
        try {
            brake.release();
        } catch (VmException e) {
            hold();
            return sealed(by, by.answer(Outcome.FAILED, UNKNOWN, e.getMessage()));
        }
        gate.open();
        feeds.expectSilence(false);
        return by.answer(Outcome.DONE, RUNNING, setClock(pausedNs) ? null : "the guest's clock could not be set");
    }

    /// What was not let go properly stays paused.
    private void hold() {
        try {
            brake.hold();
        } catch (VmException _) {
            // The next probe says what it does.
        }
    }

    /// A guest that stood still has a wall clock that is late. In the exact tier it is kept in step in any case.
    private boolean setClock(long pausedNs) throws InterruptedException {
        if (vm.facts().tier() == Tier.EXACT) {
            return true;
        }
        try {
            Told told = vm.tellClock(Instant.now(), ClockPace.FULL);
            if (told == null) {
                return false;
            }
            // Where its boot clock went on meanwhile, the mapping must not be moved twice: by no more than the pause,
            // since
            // this is the guest's word.
            long wentOn = told.bootNanos() - clock.bootNs();
            if (wentOn > ASTRAY_NS_MIN) {
                clock.forward(pausedAtBootNs, -Math.min(wentOn, pausedNs));
            }
            return true;
        } catch (VmException e) {
            return false;
        }
    }

    private ControlAnswer kill(By by) throws RecorderException, InterruptedException {
        if (!ending.claim()) {
            return sealed(by, by.answer(Outcome.REFUSED, UNKNOWN, "the run is ending"));
        }
        feeds.expectSilence(true);
        var stopped = new Stopped(0, false, null);
        // Whatever is commanded meanwhile, this comes first in the end.
        if (commands.tryLock(KILL_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            try {
                gate.shut();
                stopped = stop(by);
            } finally {
                commands.unlock();
            }
        }
        ControlAnswer answer = new ControlAnswer(Outcome.DONE, "ended", stopped.tookNs(), stopped.trouble());
        boolean said = sealedSoon(by, answer, stopped);
        if (!ending.end()) {
            return sealed(by, by.answer(Outcome.FAILED, UNKNOWN, "the machine did not end"));
        }
        return said ? answer : by.answer(Outcome.DONE, "ended", "the record does not say so: the disk does not answer");
    }

    private boolean sealedSoon(By by, ControlAnswer answer, Stopped stopped) throws InterruptedException {
        var task = new FutureTask<>(() -> sealed(by, answer, stopped));
        Thread.ofPlatform().daemon().name("control-seal").start(task);
        try {
            task.get(KILL_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException | ExecutionException e) {
            return false;
        }
    }

    /// It does not wait for a command, and no command for its seal.
    private ControlAnswer probe() throws RecorderException, InterruptedException {
        long from = System.nanoTime();
        String machine;
        String why = null;
        if (commands.tryLock(KILL_PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            try {
                boolean paused = brake.look() != State.RUNNING;
                machine = paused ? PAUSED : RUNNING;
                if (paused != gate.isShut()) {
                    why = paused ? "nobody paused it" : "it was to be paused";
                }
            } catch (VmException e) {
                machine = FAILED;
                why = ControlAnswer.cut(String.valueOf(e.getMessage()));
            } finally {
                commands.unlock();
            }
        } else {
            machine = FAILED;
            why = "a command was not done yet";
        }
        long tookNs = System.nanoTime() - from;
        Detail detail = Detail.of("tookNs", tookNs);
        seal(Kind.CONTROL_PROBE, machine, why == null ? detail : detail.and("why", why));
        return new ControlAnswer(why == null ? Outcome.DONE : Outcome.FAILED, machine, tookNs, why);
    }

    private ControlAnswer sealed(By by, ControlAnswer answer) throws RecorderException {
        return sealed(by, answer, null);
    }

    /// @param stopped of a command that stopped the guest
    private ControlAnswer sealed(By by, ControlAnswer answer, @Nullable Stopped stopped) throws RecorderException {
        Detail detail = Detail.empty()
                .and("outcome", answer.outcome().word())
                .and("machine", answer.machine())
                .and("tookNs", answer.tookNs())
                .and("user", by.user())
                .and("via", by.request().via())
                .and("reason", by.request().reason());
        String subject = by.request().subject();
        if (subject != null) {
            detail.and("subject", subject);
        }
        if (stopped != null) {
            detail.and("drained", stopped.drained());
        }
        String why = answer.why();
        if (why != null) {
            detail.and("why", why);
        }
        if (!seal(Kind.CONTROL_COMMAND, by.request().command().word(), detail)) {
            return ControlAnswer.refused("the run has ended meanwhile");
        }
        recorder.flush();
        return answer;
    }

    /// Returns false if nothing is sealed any more.
    private boolean seal(Kind kind, String what, Detail detail) throws RecorderException {
        synchronized (sealing) {
            if (!closed) {
                recorder.accept(new Event.Control(kind, EventHeader.host(clock.nowNs()), what, detail.toString()));
            }
            return !closed;
        }
    }
}
