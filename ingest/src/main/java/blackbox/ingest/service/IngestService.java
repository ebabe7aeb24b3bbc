package blackbox.ingest.service;

import blackbox.ingest.IngestException;
import blackbox.ingest.IngestException.Code;
import blackbox.ingest.service.IngestStatus.Phase;
import blackbox.ingest.table.CommitStep;
import blackbox.schemas.RunId;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Ingest as a service: takes batches from the topic to the table until it is closed.
///
/// After an operating failure (no space, broker gone, catalog locked) it opens table and topic again, from the
/// last commit, with growing pauses. All methods are safe to call from several threads.
public final class IngestService implements AutoCloseable {

    private static final Duration PAUSE_MIN = Duration.ofMillis(500);
    private static final Duration PAUSE_MAX = Duration.ofSeconds(30);

    private final IngestSettings settings;
    private final InstantSource clock;
    private final CommitStep.Observer observer;
    private final IngestCounters counters = new IngestCounters();
    private final Watermarks watermarks = new Watermarks();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Thread thread;

    private volatile boolean stopping;
    private volatile Phase phase = Phase.STARTING;
    private volatile @Nullable String trouble;

    /// The result of waiting for rows; see [#await].
    public enum Awaited {
        /// The rows are in the table.
        COMMITTED,
        /// A batch of the run failed its check: the rows will never be in the table.
        STOPPED,
        /// Not yet.
        TIMED_OUT
    }

    private IngestService(IngestSettings settings, InstantSource clock, CommitStep.Observer observer)
            throws IngestException {
        this.settings = settings;
        this.clock = clock;
        this.observer = observer;
        IngestSession first = open();
        phase = Phase.RUNNING;
        thread = Thread.ofPlatform().name("ingest-write").start(() -> work(first));
    }

    /// Starts the service and returns once it is running.
    ///
    /// @throws IngestException when table or topic cannot be opened; nothing runs then
    public static IngestService start(IngestSettings settings) throws IngestException {
        return start(settings, InstantSource.system(), CommitStep.Observer.NONE);
    }

    /// The same with a clock for findings and an observer of commits, for tests.
    public static IngestService start(IngestSettings settings, InstantSource clock, CommitStep.Observer observer)
            throws IngestException {
        return new IngestService(settings, clock, observer);
    }

    private IngestSession open() throws IngestException {
        return new IngestSession(settings, clock, observer, counters, watermarks);
    }

    private void work(IngestSession first) {
        IngestSession session = first;
        Duration pause = PAUSE_MIN;
        while (true) {
            try (IngestSession current = session == null ? open() : session) {
                session = null;
                long commits = counters.commits.sum();
                try {
                    current.run(() -> stopping, this::works);
                    end(Phase.STOPPED);
                    return;
                } finally {
                    pause = counters.commits.sum() > commits ? PAUSE_MIN : pause;
                }
            } catch (IngestException e) {
                session = null;
                trouble = sentence(e);
                phase = Phase.RETRYING;
            } catch (RuntimeException | Error e) {
                trouble = "ingest has stopped because of an internal error: " + sentence(e);
                end(Phase.FAILED);
                return;
            }
            if (pauseFor(pause)) {
                end(Phase.STOPPED);
                return;
            }
            pause = pause.multipliedBy(2).compareTo(PAUSE_MAX) > 0 ? PAUSE_MAX : pause.multipliedBy(2);
        }
    }

    /// What opens again after a failure may fail again at the first commit.
    private void works() {
        phase = Phase.RUNNING;
        trouble = null;
    }

    private static String sentence(Throwable e) {
        String message = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        Throwable cause = e.getCause();
        return cause == null || cause.getMessage() == null ? message : message + " (" + cause.getMessage() + ")";
    }

    /// Waits; says whether the service is to stop.
    private boolean pauseFor(Duration pause) {
        lock.lock();
        try {
            long left = pause.toNanos();
            while (!stopping && left > 0) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stopping = true;
        } finally {
            lock.unlock();
        }
        return stopping;
    }

    private void end(Phase last) {
        phase = last;
        watermarks.end();
    }

    /// How it is doing.
    public IngestStatus status() {
        return new IngestStatus(
                phase,
                trouble,
                counters.rows.sum(),
                counters.bytes.sum(),
                counters.commits.sum(),
                counters.batches.sum(),
                counters.known.sum(),
                counters.foreign.sum(),
                counters.refused.sum(),
                counters.unread,
                counters.waiting());
    }

    /// Waits until the table has the run's rows before `endIndex`, and has them committed as soon as they
    /// arrived.
    ///
    /// @throws IngestException `STOPPED` when interrupted
    public Awaited await(RunId run, long endIndex, Duration timeout) throws IngestException {
        try {
            return watermarks.await(run, endIndex, timeout);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IngestException(Code.STOPPED, "interrupted while waiting for run " + run, e);
        }
    }

    /// Commits what has arrived and stops. The rest stays in the topic.
    @Override
    public void close() {
        lock.lock();
        try {
            stopping = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
