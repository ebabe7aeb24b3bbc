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

/// Takes what a machine's hypervisor reports, without ever blocking it, until the run's recorder can take it
/// over.
public final class MachineLog {

    private static final int EVENTS_MAX = 10_000;

    private final HostClock clock;
    private final BlockingQueue<Event> waiting = new LinkedBlockingQueue<>(EVENTS_MAX);
    private final AtomicLong dropped = new AtomicLong();
    private volatile @Nullable String halted;

    public MachineLog(HostClock clock) {
        this.clock = clock;
    }

    /// Hears an event of the hypervisor's.
    ///
    /// @param detail JSON, or null
    /// @param halted why it has stopped the guest, which nothing will wake again; else null
    public void hear(String name, @Nullable String detail, @Nullable String halted) {
        if (halted != null) {
            this.halted = halted;
        }
        if (!waiting.offer(new Event.VmLifecycle(EventHeader.host(clock.nowNs()), name, detail))) {
            dropped.incrementAndGet();
        }
    }

    /// Why the guest was stopped for good, or null.
    @Nullable
    String halted() {
        return halted;
    }

    /// Hands on everything heard so far, and says what did not fit.
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
