package blackbox.recorder.seal;

import blackbox.evidence.verify.Losses;
import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.schemas.event.Event;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// The writer of one run: a thread that takes events from a bounded queue, appends them in the order in which
/// they arrive and seals at least once a second, or, while nothing happens, as often as it was told.
///
/// [#accept] blocks while the queue holds [#QUEUE_BYTES_MAX], by the weight of events ([EventWeight]): a
/// guest that floods is slowed down by its own channel, and what its ring then drops is counted there. When
/// the sink fails the writer stops, and every later call says why.
public final class RunRecorder implements EventSink, AutoCloseable {

    static final int QUEUE_BYTES_MAX = 64 << 20;
    private static final Duration SEAL_INTERVAL = Duration.ofMillis(500);
    private static final Duration LATENCY = Duration.ofMillis(20);

    /// How long what somebody waits for may wait for its batch.
    private static final Duration AWAITED = Duration.ofMillis(50);

    private final RunSealer sealer;
    private final long idleNs;
    private final BlockingQueue<Waiting> queue = new LinkedBlockingQueue<>();
    /// What may still be queued, octets. Fair, so that light events do not overtake a heavy one that waits.
    private final Semaphore room = new Semaphore(QUEUE_BYTES_MAX, true);
    private final AtomicLong recorded = new AtomicLong();
    private volatile Losses losses = Losses.NOT_KNOWN;
    private final AtomicReference<@Nullable CountDownLatch> flush = new AtomicReference<>();
    private final Thread writer;

    /// The flush that the next seal completes; owned by the writer.
    private @Nullable CountDownLatch served;

    private volatile @Nullable RecorderException failure;
    private volatile boolean closing;

    /// Whether nothing more is sealed.
    private volatile boolean ended;

    /// An event in the queue.
    ///
    /// @param event null only wakes the writer, so that it sees who waits for it
    /// @param weight what it takes of the queue's room
    private record Waiting(@Nullable Event event, int weight) {
        static final Waiting WAKE = new Waiting(null, 0);
    }

    /// Starts the writer. The first event recorded is the run's first leaf.
    public RunRecorder(RunSealer sealer, String name) {
        this(sealer, name, SEAL_INTERVAL);
    }

    /// Starts a writer that seals less often while nothing happens.
    ///
    /// @param idle how often, 500 ms or more
    public RunRecorder(RunSealer sealer, String name, Duration idle) {
        this.sealer = sealer;
        this.idleNs = idle.toNanos();
        this.writer = Thread.ofPlatform().name("seal-" + name).start(this::write);
    }

    /// Passes an event to the writer, waiting while the queue is full.
    ///
    /// @throws RecorderException when the writer has stopped
    @Override
    public void accept(Event event) throws RecorderException {
        int weight = (int) Math.min(EventWeight.of(event), QUEUE_BYTES_MAX);
        try {
            do {
                check();
                if (closing) {
                    throw new RecorderException(RecorderException.Code.CLOSED, "the run is closed already");
                }
            } while (!room.tryAcquire(weight, 100, TimeUnit.MILLISECONDS));
            queue.add(new Waiting(event, weight));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RecorderException(RecorderException.Code.CLOSED, "interrupted while recording", e);
        }
    }

    /// Waits until everything that this thread passed before is recorded.
    ///
    /// @throws RecorderException when the writer has stopped
    public void flush() throws RecorderException {
        var mine = new CountDownLatch(1);
        CountDownLatch earlier = null;
        while (true) {
            CountDownLatch others = flush.compareAndExchange(null, mine);
            if (others == null) {
                queue.add(Waiting.WAKE);
                await(mine);
                break;
            }
            await(others);
            if (earlier != null && !others.equals(earlier)) {
                break; // it began after this thread's last event, which the one before it need not have
            }
            earlier = others;
        }
        check();
        if (ended && unsealed() > 0) {
            throw new RecorderException(RecorderException.Code.CLOSED, "the run was closed before");
        }
    }

    private long unsealed() {
        return queue.stream().filter(each -> each.event() != null).count();
    }

    private void await(CountDownLatch asked) throws RecorderException {
        try {
            while (!asked.await(100, TimeUnit.MILLISECONDS)) {
                if (!writer.isAlive()) {
                    flush.compareAndSet(asked, null);
                    asked.countDown();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RecorderException(RecorderException.Code.CLOSED, "interrupted while flushing", e);
        }
    }

    /// How many leaves are recorded, that is sealed and durable.
    public long recorded() {
        return recorded.get();
    }

    /// What is lost, by what is recorded; known only once the run is closed.
    public Losses losses() {
        return losses;
    }

    /// How much is queued, octets.
    int queuedBytes() {
        return QUEUE_BYTES_MAX - room.availablePermits();
    }

    /// What stopped the writer, or null.
    @Override
    public @Nullable RecorderException failure() {
        return failure;
    }

    /// Seals what is queued and stops the writer; the last event recorded should be the run's close. To be
    /// called when nobody records anymore.
    ///
    /// @throws RecorderException when not everything could be made durable
    @Override
    public void close() throws RecorderException {
        closing = true;
        try {
            writer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RecorderException(RecorderException.Code.CLOSED, "interrupted while closing the run", e);
        }
        check();
        if (unsealed() > 0) {
            throw new RecorderException(
                    RecorderException.Code.CLOSED, unsealed() + " events came after the run was closed");
        }
    }

    private void check() throws RecorderException {
        RecorderException stopped = failure;
        if (stopped != null) {
            throw new RecorderException(stopped.code(), "the recorder has stopped", stopped);
        }
    }

    private void write() {
        try {
            boolean last = false;
            while (!last) {
                boolean closed = appendUntilDue();
                last = closed || closing && queue.isEmpty();
                sealer.seal();
                losses = sealer.losses();
                recorded.set(sealer.size());
                release();
            }
        } catch (RecorderException e) {
            failure = e;
        } catch (InterruptedException e) {
            failure = new RecorderException(RecorderException.Code.CLOSED, "the writer was interrupted", e);
        } catch (RuntimeException | Error e) {
            failure = new RecorderException(
                    RecorderException.Code.CLOSED,
                    "the writer failed (" + e.getClass().getSimpleName() + ")",
                    e);
        } finally {
            sealer.close();
            ended = true;
            served = flush.get();
            release();
        }
    }

    /// Appends until it is time to seal; true when the run's close was appended, after which nothing follows.
    private boolean appendUntilDue() throws InterruptedException {
        long began = System.nanoTime();
        long due = began + idleNs;
        boolean idle = idleNs > SEAL_INTERVAL.toNanos();
        while (!sealer.isFull() && !(closing && queue.isEmpty())) {
            CountDownLatch asked = flush.get();
            long left = asked == null ? Math.min(due - System.nanoTime(), LATENCY.toNanos()) : 0;
            Waiting next = queue.poll(Math.max(0, left), TimeUnit.NANOSECONDS);
            Event event = next == null ? null : next.event();
            if (next != null && event == null) {
                continue; // what else is queued may be older than whoever waits
            }
            if (event != null && next != null) {
                sealer.append(closed(event));
                room.release(next.weight());
                due = idle ? Math.min(due, System.nanoTime() + SEAL_INTERVAL.toNanos()) : due;
                idle = false;
                due = sealer.isAwaited() ? Math.min(due, began + AWAITED.toNanos()) : due;
            }
            if (event instanceof Event.RunClose) {
                return true;
            }
            if (event == null && asked != null) {
                served = asked;
                return false;
            }
            if (System.nanoTime() >= due) {
                return false;
            }
        }
        return false;
    }

    private void release() {
        CountDownLatch waiting = served;
        if (waiting != null) {
            flush.compareAndSet(waiting, null);
            waiting.countDown();
            served = null;
        }
    }

    /// A run's close carries the counts of what precedes it, which only the writer knows.
    private Event closed(Event event) {
        if (!(event instanceof Event.RunClose close)) {
            return event;
        }
        sealer.settle();
        return new Event.RunClose(
                close.header(), sealer.size(), sealer.lost(), close.exitCode(), close.signal(), close.detail());
    }
}
