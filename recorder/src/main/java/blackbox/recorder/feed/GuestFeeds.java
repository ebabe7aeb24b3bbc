package blackbox.recorder.feed;

import blackbox.recorder.RecorderException;
import blackbox.recorder.capture.CapturedFiles;
import blackbox.recorder.capture.KeptStream;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.GuestDecoder;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.guest.TracerReport;
import blackbox.recorder.net.FlowTable;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.FindingDetail;
import blackbox.schemas.folder.CaptureName;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The threads that turn what a machine reports and does into events for a sink: the tracer's stream, the
/// frames of both directions, and a watch on the tracer's heartbeat. They end when the machine does.
public final class GuestFeeds {

    private static final long LOOK_EVERY_MS = 1_000;
    private static final long SEAL_CAPTURES_EVERY_MS = 250;
    private static final String SILENCE_WATCH = "silence-watch";

    /// How long it may take to read what a machine has left behind in its pipes, which hold little.
    private static final Duration REST_MAX = Duration.ofMinutes(5);

    /// How long a guest that was stopped may go on passing on what it had.
    private static final Duration QUIET_MAX = Duration.ofSeconds(10);

    private final EventSink recorder;
    private final HostClock clock;
    private final GuestDecoder decoder;
    private final WatchedInput events;
    private final FlowFeed flows;
    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CapturedFiles captures;
    private final MachineLog log;
    private final @Nullable Duration silenceMax;
    private final Consumer<String> stop;
    private volatile @Nullable RecorderException failure;
    private volatile boolean silenceExpected;
    private volatile boolean paused;
    private volatile boolean undrained;

    /// @param recorder takes the events, which come from several threads
    /// @param report the tracer's, when it became ready
    /// @param captures the files that are sealed while they grow
    /// @param silenceMax after how long a silence of the tracer the machine must end; null for never
    /// @param stop ends the machine, with the reason: called at most once, when what the agent does can no
    ///     longer be recorded, or when the guest was halted permanently
    public GuestFeeds(
            GuestStreams streams,
            EventSink recorder,
            HostClock clock,
            TracerReport report,
            MachineLog log,
            CapturedFiles captures,
            @Nullable Duration silenceMax,
            Consumer<String> stop) {
        this.recorder = recorder;
        this.captures = captures;
        this.clock = clock;
        this.log = log;
        this.silenceMax = silenceMax;
        this.stop = stop;
        this.decoder = new GuestDecoder(clock, report, recorder);
        this.flows = new FlowFeed(clock, recorder);
        this.events = new WatchedInput(streams.events());
        threads.add(start("tracer-stream", FindingDetail.GuestStreamBroken::new, () -> decoder.run(events)));
        threads.add(start(
                CaptureName.FRAMES_OUT.text(),
                () -> fold(captures.framesOut(streams.framesOut()), FlowTable.Direction.OUT)));
        threads.add(start(
                CaptureName.FRAMES_IN.text(),
                () -> fold(captures.framesIn(streams.framesIn()), FlowTable.Direction.IN)));
        threads.add(start("captures", this::sealCaptures));
        // Not a virtual one: the JVM has a poller for virtual threads, and waits 0.3 s for it when the
        // program ends.
        threads.add(Thread.ofPlatform().daemon().name(SILENCE_WATCH).start(this::watch));
    }

    @FunctionalInterface
    private interface Feed {
        void run() throws RecorderException, IOException;
    }

    private Thread start(String name, Feed feed) {
        return start(name, _ -> new FindingDetail.FramesUnreadable(name), feed);
    }

    /// @param broken the finding if what it reads could not be read to its end, for a reason in the platform's words
    private Thread start(String name, Function<String, FindingDetail> broken, Feed feed) {
        return Thread.ofPlatform().daemon().name(name).start(() -> {
            try {
                feed.run();
            } catch (RecorderException e) {
                failure = e;
            } catch (IOException e) {
                finding(broken.apply(e.getClass().getSimpleName()));
            } catch (RuntimeException | Error e) {
                failure = failed(name, e);
                finding(broken.apply(e.getClass().getSimpleName()));
            }
        });
    }

    /// A fault that nothing foresaw, or too little memory: what the thread did is done by nobody anymore.
    private static RecorderException failed(String thread, Throwable why) {
        return new RecorderException(
                RecorderException.Code.CLOSED,
                "the recorder's thread " + thread + " failed (" + why.getClass().getSimpleName() + ")",
                why);
    }

    private void fold(KeptStream frames, FlowTable.Direction direction) throws IOException, RecorderException {
        try (frames) {
            flows.read(new BufferedInputStream(frames), direction);
            if (frames.failure() != null) {
                finding(new FindingDetail.CaptureFailed(
                        direction == FlowTable.Direction.OUT
                                ? CaptureName.FRAMES_OUT.text()
                                : CaptureName.FRAMES_IN.text()));
            }
        }
    }

    /// On its own thread: making a file durable may take longer than the watch can be delayed.
    private void sealCaptures() throws RecorderException {
        try {
            do {
                captures.sealNew(clock::nowNs, recorder);
                flows.tick();
            } while (!stopped.await(SEAL_CAPTURES_EVERY_MS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void watch() {
        String why;
        try {
            why = awaitEnd();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        } catch (RecorderException e) {
            failure = e;
            why = e.getMessage();
        } catch (RuntimeException | Error e) {
            RecorderException failed = failed(SILENCE_WATCH, e);
            failure = failed;
            why = failed.getMessage();
        }
        if (why != null) {
            stop.accept(why);
        }
    }

    /// Watches until the machine has ended or must end: why it must, or null.
    private @Nullable String awaitEnd() throws RecorderException, InterruptedException {
        var watch = new SilenceWatch(clock.pace(), clock.nowNs(), System.nanoTime());
        while (!stopped.await(LOOK_EVERY_MS, TimeUnit.MILLISECONDS)) {
            // What the hypervisor reports belongs in the epoch in which it arrived.
            log.handTo(recorder);
            if (paused) {
                watch.pass(System.nanoTime());
            } else {
                Event event = watch.look(decoder.heardNs(), clock.nowNs(), System.nanoTime());
                if (event != null && !silenceExpected) {
                    recorder.accept(event);
                }
            }
            String why = cannotGoOn(watch);
            if (why != null) {
                return why;
            }
        }
        return null;
    }

    /// An agent whose actions are not recorded must not continue, and one that was halted never continues.
    private @Nullable String cannotGoOn(SilenceWatch watch) {
        Exception stopped = failure == null ? recorder.failure() : failure;
        if (stopped != null) {
            return stopped.getMessage();
        }
        Duration most = silenceMax;
        return most != null && !silenceExpected && watch.isQuietFor(most)
                ? "nothing was heard of the guest's tracer for more than " + most.toSeconds()
                        + " s, so that what the command does is not recorded"
                : log.halted();
    }

    private void finding(FindingDetail what) {
        try {
            recorder.accept(new Event.RecorderFinding(EventHeader.host(clock.nowNs()), what));
        } catch (RecorderException e) {
            failure = e;
        }
    }

    /// Stops watching for silence: from here on the tracer may legitimately be silent.
    public void expectSilence() {
        silenceExpected = true;
    }

    /// Says whether the guest is stopped from outside, so that its tracer cannot be heard.
    public void expectSilence(boolean paused) {
        this.paused = paused;
    }

    /// Waits until all that the tracer of a guest that stands still has sent is passed on, as far as that can be seen
    /// from outside: for a moment nothing has come.
    ///
    /// @return false if it goes on and on
    public boolean awaitQuiet() throws InterruptedException {
        return events.awaitQuiet(QUIET_MAX);
    }

    /// Records that the tracer could not be drained: how much is missing is not known.
    public void missTheLast() {
        undrained = true;
    }

    /// Waits for the streams to end, which they do with the machine, and records what is still folded. To be
    /// called when the machine has ended: nobody writes to a captured file anymore.
    ///
    /// @return why a captured file is not sealed to its end, by name; empty when all are
    /// @throws RecorderException when events cannot be recorded, or a stream does not end although its machine did
    public SortedMap<String, String> finish() throws RecorderException, InterruptedException {
        return finish(REST_MAX);
    }

    SortedMap<String, String> finish(Duration restMax) throws RecorderException, InterruptedException {
        expectSilence();
        stopped.countDown();
        long due = System.nanoTime() + restMax.toNanos();
        for (Thread thread : threads) {
            if (!thread.join(Duration.ofNanos(due - System.nanoTime()))) {
                throw new RecorderException(
                        RecorderException.Code.CLOSED,
                        "the recorder's thread " + thread.getName() + " did not end within " + restMax.toSeconds()
                                + " s of the machine's end, so that the run cannot be closed");
            }
        }
        SortedMap<String, String> unsealed = captures.sealLast(clock::nowNs, recorder);
        flows.finish();
        if (undrained || !decoder.sawFinal()) {
            recorder.accept(new Event.RecorderFinding(
                    EventHeader.host(clock.nowNs()), new FindingDetail.TracerUnfinished(decoder.heardNs())));
        }
        return unsealed;
    }
}
