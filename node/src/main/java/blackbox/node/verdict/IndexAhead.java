package blackbox.node.verdict;

import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.node.data.LocalTrust;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.replay.ReplayException;
import blackbox.replay.inputs.SealedStart;
import blackbox.replay.rerun.OnMiss;
import blackbox.replay.seek.Seeker;
import blackbox.replay.seek.Seekers;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/// Indexes exact runs in the background as soon as they are closed, newest first, so that the first `replay
/// --to` does not wait for it; a run that cannot be indexed is reported once and then left alone. Runs on its
/// own daemon thread; what it has done when the process ends is not done again.
public final class IndexAhead implements AutoCloseable {
    private static final Duration LOOK_EVERY = Duration.ofSeconds(10);
    private static final Duration END_TIMEOUT = Duration.ofSeconds(3);

    private final DataFolder data;
    private final Progress progress;
    private final Set<RunId> done = new HashSet<>();
    private final Thread thread;

    private IndexAhead(DataFolder data, Progress progress) {
        this.data = data;
        this.progress = progress;
        this.thread = Thread.ofPlatform().name("index-ahead").daemon().unstarted(this::run);
    }

    /// Starts indexing.
    ///
    /// @param progress is told of runs that were indexed or cannot be
    public static IndexAhead start(DataFolder data, Progress progress) {
        var ahead = new IndexAhead(data, progress);
        ahead.thread.start();
        return ahead;
    }

    /// Stops, even in the middle of a run: the next one resumes there.
    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join(END_TIMEOUT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            while (true) {
                look();
                Thread.sleep(LOOK_EVERY);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void look() throws InterruptedException {
        var recordings = new LocalTrust(data).recordings();
        try {
            for (RunId run : recordings.runs().reversed()) {
                if (!done.contains(run) && take(recordings, run)) {
                    return; // newer runs may have been closed meanwhile
                }
            }
        } catch (IOException e) {
            progress.say("runs could not be listed for indexing: " + e.getMessage());
        }
    }

    /// Indexes the run if it is closed, exact and not indexed yet. False when there was nothing to do, so no time
    /// was spent.
    private boolean take(Recordings recordings, RunId run) throws InterruptedException {
        try {
            RunFacts facts = RunFacts.read(recordings, run);
            if (facts.state() == RunState.OPEN) {
                return false;
            }
            done.add(run);
            if (facts.service() != null
                    || SealedStart.of(facts).tier() != ReplayMethod.EXACT
                    || Seeker.isIndexed(data.root(), run)) {
                return false;
            }
            index(run);
        } catch (IOException | ReplayException | RuntimeException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException("indexing was stopped");
            }
            done.add(run);
            progress.say("run " + run + " is not indexed: " + e.getMessage());
        }
        return true;
    }

    private void index(RunId run) throws IOException, ReplayException, InterruptedException {
        var session = new ReplaySession(
                data, Tiers.built(Map.of(), OnMiss.END), InstantSource.system(), System::nanoTime, line -> {});
        switch (session.open(new ReplaySession.ReplayOptions(run, 1, null))
                .prepare(new LocalTrust(data).trustedKeys())) {
            case ReplaySession.Refused refused ->
                progress.say("run " + run + " is not indexed: "
                        + refused.refusals().getFirst().what());
            case ReplaySession.Ready ready -> {
                Seekers.open(ready.request(), line -> {}).indexAll();
                progress.say("run " + run + " is indexed for `replay --to`");
            }
        }
    }
}
