package blackbox.node.replay;

import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The replays and landings that a service starts for those who ask: some at a time, the others in the order
/// in which they came. Each is `blackbox replay` in a process of its own, so that none takes the service's memory
/// or ends what it serves, and a verdict comes about as on the command line. Kept in memory; what lasts is
/// the signed verdict. Any thread.
public final class StartedReplays implements AutoCloseable {

    /// How many may wait.
    public static final int WAITING_MAX = 8;

    private static final int KEPT_MAX = 32;
    /// A landing that nobody asks anything for so long is left.
    private static final Duration QUIET_MAX = Duration.ofMinutes(15);
    /// The same where others wait.
    private static final Duration QUIET_MAX_WAITED_FOR = Duration.ofMinutes(2);

    private static final Duration LOOK_EVERY = Duration.ofSeconds(10);
    private static final Duration END_TIMEOUT = Duration.ofSeconds(25);
    private static final int ID_BYTES = 8;

    private final List<String> launcher;
    private final DataFolder data;
    private final @Nullable String whyNone;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private final ArrayDeque<StartedReplay> kept = new ArrayDeque<>();
    private final Object versions = new Object();
    private final ExecutorService workers;
    private final ScheduledExecutorService looking;
    private long version;
    private boolean ending;

    /// Why none is started.
    public static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1;

        private final boolean now;

        RefusedException(boolean now, String message) {
            super(message);
            this.now = now;
        }

        /// Whether there may be one later.
        public boolean isForNow() {
            return now;
        }
    }

    /// @param launcher the words that start this program
    /// @param data where the runs are
    /// @param atATime how many run side by side
    /// @param whyNone why none is started, for people; null if some are
    public StartedReplays(
            List<String> launcher, DataFolder data, int atATime, @Nullable String whyNone, InstantSource clock) {
        this.launcher = List.copyOf(launcher);
        this.data = data;
        this.whyNone = whyNone;
        this.clock = clock;
        this.workers = Executors.newFixedThreadPool(
                Math.max(1, atATime),
                Thread.ofPlatform().daemon().name("replay-", 0).factory());
        this.looking = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("replays").factory());
        var _ = looking.scheduleWithFixedDelay(
                this::leaveQuiet, LOOK_EVERY.toMillis(), LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
    }

    /// An id for one that is to be started.
    public String newId() {
        var octets = new byte[ID_BYTES];
        random.nextBytes(octets);
        return HexFormat.of().formatHex(octets);
    }

    /// Starts one, or has it wait.
    ///
    /// @param id of [#newId]
    /// @param moment where to land, as [blackbox.replay.Moment] reads it; null for a replay of the whole
    /// @param subject who asks for it
    /// @throws RefusedException if there may be none, or too many wait
    public StartedReplay start(String id, RunId run, @Nullable String moment, String subject) throws RefusedException {
        if (whyNone != null) {
            throw new RefusedException(false, whyNone);
        }
        StartedReplay replay;
        synchronized (kept) {
            if (ending) {
                throw new RefusedException(true, "the service is being stopped");
            }
            if (waiting() >= WAITING_MAX) {
                throw new RefusedException(true, WAITING_MAX + " replays wait already; cancel one, or ask again later");
            }
            replay = new StartedReplay(id, run, moment, subject, clock, this::changed);
            kept.add(replay);
            forgetOld();
        }
        changed();
        var _ = workers.submit(() -> replay.run(builder(replay)));
        return replay;
    }

    private long waiting() {
        return kept.stream()
                .filter(each -> each.state() == StartedReplay.State.WAITING)
                .count();
    }

    private void changed() {
        synchronized (versions) {
            version++;
            versions.notifyAll();
        }
    }

    /// Greater with each change of any of them.
    public long version() {
        synchronized (versions) {
            return version;
        }
    }

    /// Waits until the version is another than `known`, but not for longer than that.
    public void await(long known, Duration most) throws InterruptedException {
        long until = System.nanoTime() + most.toNanos();
        synchronized (versions) {
            for (long left = most.toMillis();
                    version == known && left > 0;
                    left = (until - System.nanoTime()) / 1_000_000) {
                versions.wait(left);
            }
        }
    }

    private void forgetOld() {
        var over = kept.iterator();
        for (int left = kept.size() - KEPT_MAX; left > 0 && over.hasNext(); ) {
            if (over.next().isOver()) {
                over.remove();
                left--;
            }
        }
    }

    private ProcessBuilder builder(StartedReplay replay) {
        var words = new ArrayList<>(launcher);
        words.addAll(List.of("replay", "--json", "--data=" + data.root().toAbsolutePath()));
        if (replay.moment() != null) {
            words.add("--to=" + replay.moment());
        }
        words.add(replay.run().value());
        return new ProcessBuilder(words);
    }

    /// Those of a run that are known, the newest first.
    public List<StartedReplay> of(RunId run) {
        synchronized (kept) {
            return kept.stream().filter(each -> each.run().equals(run)).toList().reversed();
        }
    }

    /// One of a run; null if it is not known, or not any more.
    public @Nullable StartedReplay find(RunId run, String id) {
        return of(run).stream().filter(each -> each.id().equals(id)).findFirst().orElse(null);
    }

    private void leaveQuiet() {
        boolean waitedFor;
        synchronized (kept) {
            waitedFor = waiting() > 0;
        }
        Duration most = waitedFor ? QUIET_MAX_WAITED_FOR : QUIET_MAX;
        String why = "left: nobody asked it anything for " + most.toMinutes() + " minutes"
                + (waitedFor ? ", and others waited" : "");
        Instant since = clock.instant().minus(most);
        all().forEach(each -> each.leaveIfQuiet(since, why));
    }

    private List<StartedReplay> all() {
        synchronized (kept) {
            return List.copyOf(kept);
        }
    }

    /// Ends all of them, and starts no others. Does not wait.
    public void cancelAll() {
        synchronized (kept) {
            ending = true;
        }
        looking.shutdownNow();
        all().forEach(each -> {
            var _ = each.cancel();
        });
    }

    /// Ends all of them, and waits until their machines have ended.
    @Override
    public void close() {
        cancelAll();
        workers.shutdown();
        try {
            if (!workers.awaitTermination(END_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                workers.shutdownNow();
            }
        } catch (InterruptedException e) {
            workers.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
