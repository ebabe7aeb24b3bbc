package blackbox.node.verdict;

import blackbox.evidence.bundle.RunOrigin;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.files.ProcessLock;
import blackbox.node.data.LocalTrust;
import blackbox.node.verdict.VerdictLog.StoredVerdict;
import blackbox.query.run.RunFacts;
import blackbox.query.run.RunState;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.divergence.cause.DivergenceClass;
import blackbox.replay.inputs.InputCheck;
import blackbox.replay.inputs.SealedStart;
import blackbox.replay.kept.KeptExecution;
import blackbox.replay.kept.KeptStore;
import blackbox.replay.landing.KeptLanding;
import blackbox.replay.tier.ReplayRequest;
import blackbox.replay.tier.Replayer;
import blackbox.replay.verdict.KeptReference;
import blackbox.replay.verdict.LoggedVerdict;
import blackbox.replay.verdict.Refusal;
import blackbox.replay.verdict.Verdict;
import blackbox.schemas.Progress;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Replays a run one or more times. The order matters: the run must verify before it is used, everything that it
/// was started from must be unchanged before anything is started, and a verdict is durable before it is reported.
public final class ReplaySession {
    private final DataFolder data;
    private final Tiers tiers;
    private final InstantSource clock;
    private final LongSupplier nanoTime;
    private final Progress progress;

    /// @param clock dates the verdicts
    /// @param nanoTime measures how long replays take, like [System#nanoTime]
    /// @param progress receives progress, a line at a time
    public ReplaySession(DataFolder data, Tiers tiers, InstantSource clock, LongSupplier nanoTime, Progress progress) {
        this.data = data;
        this.tiers = tiers;
        this.clock = clock;
        this.nanoTime = nanoTime;
        this.progress = progress;
    }

    /// What to replay.
    ///
    /// @param times how many times, at least 1
    /// @param workspace a folder or archive to use instead of the stored one, or null
    public record ReplayOptions(
            RunId run, int times, @Nullable Path workspace) {
        public ReplayOptions {
            if (times < 1) {
                throw new IllegalArgumentException("a run is replayed at least once, not " + times + " times");
            }
        }
    }

    /// The result.
    ///
    /// @param why why the run is or is not replayed exactly
    /// @param asked how many replays were asked for
    /// @param kept the verdicts, in order; a single one, however many were asked for, when nothing could be
    ///     started
    public record Verdicts(RunId run, String why, int asked, List<StoredVerdict> kept) {
        public Verdicts {
            kept = List.copyOf(kept);
        }

        /// How many replays confirm the run.
        public long held() {
            return kept.stream()
                    .filter(each -> each.verdict().outcome().holds())
                    .count();
        }

        /// The first verdict.
        public Verdict first() {
            return kept.getFirst().verdict();
        }

        /// The first verdict that does not confirm the run, else the first.
        StoredVerdict telling() {
            return kept.stream()
                    .filter(each -> !each.verdict().outcome().holds())
                    .findFirst()
                    .orElse(kept.getFirst());
        }

        /// Whether every replay confirms the run.
        public boolean hold() {
            return held() == asked;
        }

        /// Whether a machine failed, which says nothing about the run.
        public boolean isFailure() {
            return telling().verdict().outcome() == Outcome.ENGINE_FAILED;
        }
    }

    /// What a replay is made from, or why there is none.
    public sealed interface Prepared {}

    /// Everything is present and unchanged.
    ///
    /// @param why why the run is or is not replayed exactly
    public record Ready(ReplayRequest request, Replayer replayer, String why) implements Prepared {}

    /// A replay must not be started.
    public record Refused(ReplayMethod tier, String why, List<Refusal> refusals) implements Prepared, PreparedLanding {}

    /// What a run that was recorded live can be landed in, or why it cannot.
    public sealed interface PreparedLanding {}

    /// A re-execution is here, and everything that it was started from.
    public record ReadyToLand(KeptLanding landing) implements PreparedLanding {}

    /// Replays the run.
    ///
    /// @param trusted the keys that are trusted when the run is verified
    /// @throws ReplayException `BAD_INPUT` for a run whose tier cannot be replayed or that is still being
    ///     recorded; `ENGINE`
    public Verdicts run(ReplayOptions options, List<NoteVerifier> trusted)
            throws ReplayException, IOException, InterruptedException {
        Opened opened = open(options);
        return switch (opened.prepare(trusted)) {
            case Refused refused -> refuse(options, refused);
            case Ready ready -> {
                boolean keeps = ready.replayer().keeps();
                try (ProcessLock alone = keeps ? KeptStore.lockAlone(data, options.run()) : null) {
                    if (keeps && alone == null) {
                        throw new ReplayException(
                                Code.BAD_INPUT,
                                "another process executes run " + options.run() + " again to keep that, or is landed in"
                                        + " what was kept; wait for it, or end it");
                    }
                    Verdict earlier = keeps ? opened.kept(trusted) : null;
                    yield new Verdicts(
                            options.run(),
                            ready.why(),
                            options.times(),
                            replay(ready.replayer(), ready.request(), options.times(), earlier));
                }
            }
        };
    }

    /// Opens the run: reads only what it says about its start.
    ///
    /// @throws ReplayException `BAD_INPUT` for a run whose tier cannot be replayed or that is not closed yet;
    ///     `ALTERED` when its start cannot be read
    public Opened open(ReplayOptions options) throws ReplayException, IOException {
        var recordings = new LocalTrust(data).recordings();
        RunFacts facts = RunFacts.read(recordings, options.run());
        if (facts.state() == RunState.OPEN) {
            throw new ReplayException(Code.BAD_INPUT, "run " + options.run() + " is still being recorded");
        }
        SealedStart start = SealedStart.of(facts);
        Replayer replayer = tiers.of(start.tier());
        if (replayer == null) {
            throw new ReplayException(
                    Code.BAD_INPUT,
                    "this build of Blackbox cannot replay a run of the tier "
                            + start.tier().word());
        }
        return new Opened(options, recordings, facts, start, replayer);
    }

    /// A run that is to be replayed. Used by one thread.
    public final class Opened {
        private final ReplayOptions options;
        private final Recordings recordings;
        private final RunFacts facts;
        private final SealedStart start;
        private final Replayer replayer;
        private final FutureTask<InputCheck.Result> check;
        private boolean hashing;

        private Opened(
                ReplayOptions options, Recordings recordings, RunFacts facts, SealedStart start, Replayer replayer) {
            this.options = options;
            this.recordings = recordings;
            this.facts = facts;
            this.start = start;
            this.replayer = replayer;
            this.check = new FutureTask<>(() ->
                    new InputCheck(recordings, options.run(), start, options.workspace()).check(replayer.captures()));
        }

        /// The tier that the run was recorded in.
        public ReplayMethod tier() {
            return start.tier();
        }

        /// Begins to hash what the run was started from, on its own thread. The result is not used unless the
        /// run verifies.
        public void hash() {
            if (!hashing) {
                hashing = true;
                Thread.ofPlatform().daemon().name("input-check").start(check);
            }
        }

        /// Verifies the run and checks what it was started from.
        ///
        /// @param trusted the keys that are trusted when the run is verified
        /// @throws ReplayException `ENGINE`
        public Prepared prepare(List<NoteVerifier> trusted) throws ReplayException, IOException, InterruptedException {
            hash();
            progress.say("checking what the run was started from");
            String why = Tiers.why(tier());
            Refused unverified = unverified(trusted);
            if (unverified != null) {
                return unverified;
            }
            return switch (checked()) {
                case InputCheck.Refused refused -> new Refused(tier(), why, refused.refusals());
                case InputCheck.Ready ready -> {
                    var request = new ReplayRequest(recordings, facts, start, ready.inputs());
                    List<Refusal> own = replayer.check(request);
                    yield own.isEmpty() ? new Ready(request, replayer, why) : new Refused(tier(), why, own);
                }
            };
        }

        private @Nullable Refused unverified(List<NoteVerifier> trusted) throws IOException {
            Verification verification =
                    RunOrigin.verify(recordings, options.run(), trusted, null, new LocalTrust(data).anchorTrust());
            return verification.integrity() == Integrity.VERIFIED
                    ? null
                    : new Refused(tier(), Tiers.why(tier()), List.of(untrusted(options.run(), verification)));
        }

        /// The newest verdict that confirms the run, is evidence and binds a re-execution that is here; else the newest
        /// that does not confirm it. Null if there is none.
        ///
        /// @param trusted the keys that are trusted when the log of runs is read
        public @Nullable Verdict kept(List<NoteVerifier> trusted) throws IOException {
            var store = new KeptStore(recordings, options.run());
            Verdict found = null;
            for (LoggedVerdict each : VerdictList.read(recordings, options.run(), trusted)) {
                Verdict verdict = each.fault() == null ? each.verdict() : null;
                if (verdict == null || verdict.kept() == null || !store.has(verdict.kept())) {
                    continue;
                }
                if (found == null
                        || verdict.outcome().holds()
                        || !found.outcome().holds()) {
                    found = verdict;
                }
            }
            return found;
        }

        /// Verifies the run, and checks a re-execution of it and what that was started from.
        ///
        /// @param verdict that binds the re-execution
        /// @throws ReplayException `BAD_INPUT` while another one is made; `MISSING`, `ALTERED`, `ENGINE`
        public PreparedLanding prepareKept(Verdict verdict, List<NoteVerifier> trusted)
                throws ReplayException, IOException, InterruptedException {
            progress.say("checking the re-execution that was kept of the run");
            ProcessLock use = KeptStore.lockShared(data, options.run());
            if (use == null) {
                throw new ReplayException(
                        Code.BAD_INPUT,
                        "another process executes run " + options.run()
                                + " again to keep that; wait for it, or end it");
            }
            boolean isReady = false;
            try {
                PreparedLanding prepared = prepareKept(verdict, trusted, use);
                isReady = prepared instanceof ReadyToLand;
                return prepared;
            } finally {
                if (!isReady) {
                    use.close();
                }
            }
        }

        private PreparedLanding prepareKept(Verdict verdict, List<NoteVerifier> trusted, ProcessLock use)
                throws ReplayException, IOException, InterruptedException {
            Refused unverified = unverified(trusted);
            if (unverified != null) {
                return unverified;
            }
            KeptReference kept = Objects.requireNonNull(verdict.kept());
            var store = new KeptStore(recordings, options.run());
            KeptExecution execution = store.open(kept);
            var files = new InputCheck.FilesKept(store.folder(kept), () -> store.captures(kept, execution));
            var inputs = new InputCheck(recordings, options.run(), execution.start(), options.workspace(), files);
            return switch (inputs.check(CaptureName.texts(CaptureName.EXACT))) {
                case InputCheck.Refused refused -> new Refused(tier(), Tiers.why(tier()), refused.refusals());
                case InputCheck.Ready ready -> {
                    var landing = new KeptLanding(recordings, verdict, execution, ready.inputs(), use);
                    Refusal machine = landing.refusal();
                    yield machine == null
                            ? new ReadyToLand(landing)
                            : new Refused(tier(), Tiers.why(tier()), List.of(machine));
                }
            };
        }

        private InputCheck.Result checked() throws ReplayException, InterruptedException {
            try {
                return check.get();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof ReplayException failed) {
                    throw failed;
                }
                throw new ReplayException(Code.ENGINE, "what the run was started from could not be checked", e);
            }
        }
    }

    /// Stores the verdict that the replay was refused.
    public Verdicts refuse(ReplayOptions options, Refused refused) throws ReplayException {
        Verdict verdict = Verdict.refused(options.run(), clock.instant(), refused.tier(), refused.refusals());
        return new Verdicts(options.run(), refused.why(), options.times(), List.of(new VerdictLog(data).keep(verdict)));
    }

    private static Refusal untrusted(RunId run, Verification verification) {
        String first = verification.findings().isEmpty()
                ? ""
                : ": " + verification.findings().getFirst().what();
        return new Refusal(
                DivergenceClass.RECORDER_GAP,
                "the recording itself",
                Integrity.VERIFIED.name(),
                verification.integrity() + first,
                "blackbox verify " + run);
    }

    private List<StoredVerdict> replay(Replayer replayer, ReplayRequest request, int times, @Nullable Verdict earlier)
            throws ReplayException, InterruptedException {
        var log = new VerdictLog(data);
        var kept = new ArrayList<StoredVerdict>();
        long started = nanoTime.getAsLong();
        for (int i = 1; i <= times; i++) {
            if (times > 1) {
                progress.say("replay " + i + " of " + times + left(started, i - 1, times));
            }
            StoredVerdict stored = log.keep(replay(replayer, request));
            kept.add(stored);
            retain(request, stored.verdict(), earlier);
        }
        return kept;
    }

    /// Of the re-executions, only the newest is kept; and the one before it that confirms the run, if the newest does
    /// not.
    ///
    /// @param earlier the one that was to be landed in until now, null if there was none
    private void retain(ReplayRequest request, Verdict newest, @Nullable Verdict earlier) {
        if (newest.kept() == null) {
            return;
        }
        var kept = new HashSet<>(Set.of(newest.kept()));
        boolean isWorse = !newest.outcome().holds();
        if (isWorse && earlier != null && earlier.outcome().holds() && earlier.kept() != null) {
            kept.add(earlier.kept());
        }
        try {
            new KeptStore(request.recordings(), request.facts().run()).retain(kept);
        } catch (IOException e) {
            progress.say("earlier re-executions could not be deleted: " + e.getMessage());
        }
    }

    /// One replay. The outcome of an interrupted one says nothing about the run, whatever it looks like.
    private Verdict replay(Replayer replayer, ReplayRequest request) throws ReplayException, InterruptedException {
        try {
            Verdict verdict = replayer.replay(request, progress);
            if (!Thread.currentThread().isInterrupted()) {
                return verdict;
            }
        } catch (ReplayException e) {
            if (!Thread.currentThread().isInterrupted()) {
                throw e;
            }
        }
        throw new InterruptedException("the replay was interrupted");
    }

    private String left(long started, int done, int times) {
        if (done == 0) {
            return "";
        }
        long each = (nanoTime.getAsLong() - started) / done;
        return ", about " + Duration.ofNanos(each * (times - done)).toSeconds() + " s left";
    }
}
