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
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Pauses, continues and ends the run of this process, and has the record say who wanted it and why. First the machine
/// stops, then that is sealed, and only then is it answered; what ends the machine waits for nothing without
/// limit. Safe to share.
public final class RunControl {

    private static final String RUNNING = "running";
    private static final String PAUSED = "paused";
    private static final String UNKNOWN = "unknown";
    private static final String FAILED = "failed";

    /// How long a kill waits for a command before it, and then for the record to say it: a disk may hang.
    private static final Duration KILL_PATIENCE = Duration.ofSeconds(3);

    /// How long a command waits for the one before it.
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /// How long the run's end waits for what is on its way into the record.
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(10);

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

    /// How many events are on their way into the record.
    private final AtomicInteger sealing = new AtomicInteger();

    private final CountDownLatch killSealed = new CountDownLatch(1);
    private final CountDownLatch begun = new CountDownLatch(1);
    private volatile boolean killing;
    private volatile boolean began;
    private volatile boolean closed;
    private long pausedAtBootNs;

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
        begun.countDown();
    }

    /// Waits until there is something to pause, or there will not be.
    public void awaitBegun() throws InterruptedException {
        begun.await();
    }

    /// Nothing is carried out or sealed any more: the machine is about to end. Waits, but only for a time, until
    /// what is on its way is sealed, above all who ends the run.
    public void close() {
        long due = System.nanoTime() + CLOSE_PATIENCE.toNanos();
        try {
            if (killing) {
                boolean _ = killSealed.await(CLOSE_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            }
            closed = true;
            while (sealing.get() > 0 && System.nanoTime() < due) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            closed = true;
            begun.countDown();
        }
    }

    /// Carries out a command.
    ///
    /// @param user of this host, who owns the process that asks
    /// @throws RecorderException if the record cannot say it; a machine that was to stop has stopped all the same
    public ControlAnswer carryOut(ControlRequest request, String user) throws RecorderException, InterruptedException {
        if (closed) {
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
        if (!commands.tryLock(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
            return ControlAnswer.refused("another command is not done yet");
        }
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
        try {
            brake.stop();
        } catch (VmException e) {
            trouble = e.getMessage();
        }
        long tookNs = System.nanoTime() - by.from();
        boolean stopped = trouble == null;
        // A hypervisor that does not stop its guest is not waited for.
        boolean drained = stopped && feeds.awaitQuiet();
        boolean held = false;
        try {
            brake.hold();
            held = true;
        } catch (VmException e) {
            trouble = e.getMessage();
        }
        long heldNs = System.nanoTime() - by.from();
        // From here on only what lies between us and it can come.
        for (int i = 0; i < DRAINS_MAX && held && !drained; i++) {
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
        long pausedNs = wasPaused ? clock.bootNs() - pausedAtBootNs : 0;
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
            // Where its boot clock went on meanwhile, the mapping must not be moved twice: by no more than the
            // pause, since this is the guest's word.
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
        killing = true;
        if (!ending.claim()) {
            killSealed.countDown();
            return ControlAnswer.refused("the run is ending");
        }
        feeds.expectSilence(true);
        // Whatever is commanded meanwhile, this comes first in the end.
        boolean alone = commands.tryLock(KILL_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        Stopped stopped;
        try {
            gate.shut();
            stopped = alone ? soon(() -> stop(by)) : null;
        } finally {
            if (alone) {
                commands.unlock();
            }
        }
        if (stopped == null) {
            stopped = new Stopped(System.nanoTime() - by.from(), false, "the guest could not be stopped first");
        }
        Stopped how = stopped;
        ControlAnswer answer = new ControlAnswer(Outcome.DONE, "ended", how.tookNs(), how.trouble());
        ControlAnswer said = soon(() -> sealed(by, answer, how));
        killSealed.countDown();
        if (!ending.end()) {
            return sealed(by, by.answer(Outcome.FAILED, UNKNOWN, "the machine did not end"));
        }
        return said != null && said.outcome() == Outcome.DONE
                ? answer
                : by.answer(Outcome.DONE, "ended", "it is not known whether the record says so");
    }

    /// The result, if it is there soon; else null.
    private static <R> @Nullable R soon(Callable<R> act) throws InterruptedException {
        var task = new FutureTask<>(act);
        Thread.ofPlatform().daemon().name("control-kill").start(task);
        try {
            return task.get(KILL_PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            return null;
        }
    }

    /// It does not wait for a command, and no command for its seal. What is commanded meanwhile is in the record
    /// itself.
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
            return ControlAnswer.refused("a command is not done yet");
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
        sealing.incrementAndGet();
        try {
            if (closed) {
                return false;
            }
            recorder.accept(new Event.Control(kind, EventHeader.host(clock.nowNs()), what, detail.toString()));
            return true;
        } finally {
            sealing.decrementAndGet();
        }
    }
}
