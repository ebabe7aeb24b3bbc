package blackbox.recorder.feed;

import blackbox.recorder.Detail;
import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.HostClock;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.FindingDetail;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Collects what a machine's hypervisor and its guest's first process report, without ever blocking it, until
/// the run's recorder is ready.
public final class MachineLog {

    private static final int EVENTS_MAX = 10_000;

    /// Of what the hypervisor's events say that wait: one that its guest has taken over says as much as it
    /// likes.
    static final int CHARS_MAX = 8 << 20;

    private final HostClock clock;
    private final BlockingQueue<Event> waiting = new LinkedBlockingQueue<>(EVENTS_MAX);
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong chars = new AtomicLong();
    private volatile @Nullable String halted;

    public MachineLog(HostClock clock) {
        this.clock = clock;
    }

    /// Receives an event from the hypervisor.
    ///
    /// @param detail JSON, or null
    /// @param halted why it has stopped the guest for good; otherwise null
    public void hear(String name, @Nullable String detail, @Nullable String halted) {
        if (halted != null) {
            this.halted = halted;
        }
        var heard = new Event.VmLifecycle(EventHeader.host(clock.nowNs()), name, detail);
        if (chars.get() + chars(heard) > CHARS_MAX) {
            dropped.incrementAndGet();
            return;
        }
        chars.addAndGet(chars(heard));
        put(heard);
    }

    /// Receives from the guest's first process that the agent's exists.
    ///
    /// @param cgroup id of its control group
    /// @param bootNs when it was made, on the guest's boot clock
    public void agentStarted(int pid, long cgroup, long bootNs) {
        Detail detail = Detail.of("pid", pid).and("cgroup", cgroup).and("bootNs", bootNs);
        put(new Event.AgentStart(EventHeader.host(clock.nowNs()), detail.toString()));
    }

    /// Receives from it that the agent has ended.
    public void agentEnded(@Nullable Integer exitCode, @Nullable Integer signal) {
        put(new Event.AgentExit(EventHeader.host(clock.nowNs()), exitCode, signal));
    }

    /// Receives from it that the agent ran into a limit.
    ///
    /// @param limit `memory` or `pids`
    /// @param count how many processes were ended because of it, or could not be started
    public void limitReached(String limit, long count) {
        put(new Event.RecorderFinding(EventHeader.host(clock.nowNs()), new FindingDetail.LimitReached(limit, count)));
    }

    /// Receives from it that the tracer ended.
    ///
    /// @param status its exit code, or minus the signal that ended it
    /// @param frozenAfterNs how long after that was noticed no process of the agent ran any more
    public void tracerEnded(int status, long frozenAfterNs) {
        put(new Event.RecorderFinding(
                EventHeader.host(clock.nowNs()), new FindingDetail.TracerEnded(status, frozenAfterNs)));
    }

    private void put(Event event) {
        if (!waiting.offer(event)) {
            dropped.incrementAndGet();
            taken(event);
        }
    }

    private void taken(Event event) {
        if (event instanceof Event.VmLifecycle heard) {
            chars.addAndGet(-chars(heard));
        }
    }

    private static int chars(Event.VmLifecycle heard) {
        String detail = heard.detail();
        return heard.what().length() + (detail == null ? 0 : detail.length());
    }

    /// Why the guest was stopped permanently, or null.
    @Nullable
    String halted() {
        return halted;
    }

    /// Passes on everything received so far, and reports what did not fit.
    public void handTo(EventSink sink) throws RecorderException {
        for (Event event = waiting.poll(); event != null; event = waiting.poll()) {
            taken(event);
            sink.accept(event);
        }
        long lost = dropped.getAndSet(0);
        if (lost > 0) {
            sink.accept(new Event.RecorderLoss(EventHeader.host(clock.nowNs()), lost, "vm-events", null));
        }
    }
}
