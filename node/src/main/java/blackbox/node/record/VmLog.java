package blackbox.node.record;

import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.HostClock;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.vm.qmp.QmpEvent;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Takes what QEMU reports, without ever blocking it, until the run's recorder can take it over.
public final class VmLog {

    private static final int EVENTS_MAX = 10_000;

    private final HostClock clock;
    private final BlockingQueue<Event> waiting = new LinkedBlockingQueue<>(EVENTS_MAX);
    private final AtomicLong dropped = new AtomicLong();
    private volatile @Nullable String halted;

    public VmLog(HostClock clock) {
        this.clock = clock;
    }

    /// Hears an event of QEMU's.
    public void hear(QmpEvent event) {
        // A full disk the machine itself tells of, to whoever waits for its guest.
        if (event.name().equals("BLOCK_IO_ERROR")
                && event.data().path("action").asText().equals("stop")
                && !event.data().path("nospace").asBoolean()) {
            halted = "the host could not " + event.data().path("operation").asText() + " the VM's disk '"
                    + event.data().path("node-name").asText() + "', so QEMU stopped the VM";
        }
        String detail = event.data().isEmpty() ? null : event.data().toString();
        if (!waiting.offer(new Event.VmLifecycle(EventHeader.host(clock.nowNs()), event.name(), detail))) {
            dropped.incrementAndGet();
        }
    }

    /// Why QEMU stopped the guest, which nothing will wake again, or null.
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
