package blackbox.recorder.feed;

import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.HostClock;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Collects what a machine's hypervisor reports, without ever blocking it, until the run's recorder is ready.
public final class MachineLog {

    private static final int EVENTS_MAX = 10_000;

    private final HostClock clock;
    private final BlockingQueue<Event> waiting = new LinkedBlockingQueue<>(EVENTS_MAX);
    private final AtomicLong dropped = new AtomicLong();
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
        if (!waiting.offer(new Event.VmLifecycle(EventHeader.host(clock.nowNs()), name, detail))) {
            dropped.incrementAndGet();
        }
    }

    /// Why the guest was stopped permanently, or null.
    @Nullable
    String halted() {
        return halted;
    }

    /// Passes on everything received so far, and reports what did not fit.
    public void handTo(EventSink sink) throws RecorderException {
        for (Event event = waiting.poll(); event != null; event = waiting.poll()) {
            sink.accept(event);
        }
        long lost = dropped.getAndSet(0);
        if (lost > 0) {
            sink.accept(new Event.RecorderLoss(EventHeader.host(clock.nowNs()), lost, "vm-events", null));
        }
    }
}
