package blackbox.replay.exact;

import blackbox.recorder.RecorderException;
import blackbox.recorder.feed.FlowFeed;
import blackbox.recorder.guest.GuestDecoder;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.guest.TracerReport;
import blackbox.recorder.net.FlowTable;
import blackbox.replay.ReplayException;
import blackbox.replay.ReplayException.Code;
import blackbox.replay.capture.SealedCapture;
import blackbox.replay.compare.EventTape;
import blackbox.replay.output.OutputMatch;
import blackbox.replay.tier.ReplayRequest;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.folder.DataFolder;
import blackbox.vm.VmException;
import blackbox.vm.Watchdog;
import blackbox.vm.replay.ReplayMachine;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/// One execution of an exact recording's instructions, with everything that it sends compared with what the
/// recording has. One object, one execution, one thread.
final class ExactReplay {
    private static final Duration LOOK_EVERY = Duration.ofMillis(500);
    /// A machine executes millions of instructions a second: one that executes none in this time waits for
    /// something that its log does not contain.
    private static final Duration STILL_MAX = Duration.ofSeconds(30);
    private static final long SAY_EVERY_LOOKS = 6;
    private static final String CUT = "the replay log was cut: ";

    private final ReplayRequest request;
    private final ReplayMachine.Recording recording;
    private final EventTape tape;
    private final Progress progress;
    private final long logBytes;
    private final HostClock clock = new HostClock(InstantSource.system());
    private final FlowFeed flows;

    ExactReplay(ReplayRequest request, ReplayMachine.Recording recording, EventTape tape, Progress progress) {
        this(request, recording, tape, progress, Long.MAX_VALUE);
    }

    /// A replay that gets only the first `logBytes` octets of the log.
    ExactReplay(
            ReplayRequest request,
            ReplayMachine.Recording recording,
            EventTape tape,
            Progress progress,
            long logBytes) {
        this.request = request;
        this.recording = recording;
        this.tape = tape;
        this.progress = progress;
        this.logBytes = logBytes;
        this.flows = new FlowFeed(clock, tape);
    }

    /// The result.
    ///
    /// @param matches how far the octets of each stream agree
    /// @param printed where what the agent printed differs, which is a part of them; null if it does not
    /// @param extent of the log
    /// @param stalled why the replay did not reach the log's end, or null
    record Result(
            List<StreamMatch> matches,
            @Nullable OutputMatch printed,
            LogExtent extent,
            @Nullable String stalled) {}

    /// Executes to the end of the log.
    ///
    /// @param report the tracer's, when it became ready
    Result run(TracerReport report) throws ReplayException, InterruptedException {
        try {
            LogExtent extent;
            try (InputStream log = log()) {
                extent = LogExtent.read(log);
            }
            try (InputStream log = log();
                    var machine = ReplayMachine.open(request.recordings().data(), recording, log, event -> {})) {
                return run(machine, extent, report);
            } catch (VmException e) {
                if (extent.end() || e.code() != VmException.Code.QEMU_FAILED) {
                    throw e;
                }
                // So little of the log is left that QEMU ends while it starts, or as soon as it runs.
                return new Result(List.of(), null, extent, CUT + e.getMessage());
            }
        } catch (IOException | VmException | RecorderException e) {
            throw new ReplayException(Code.ENGINE, "the replay failed: " + e.getMessage(), e);
        }
    }

    private Result run(ReplayMachine machine, LogExtent extent, TracerReport report)
            throws VmException, IOException, RecorderException, InterruptedException {
        var out = compare(CaptureName.FRAMES_OUT.text(), machine.framesOut(), FlowTable.Direction.OUT);
        var in = compare(CaptureName.FRAMES_IN.text(), machine.framesIn(), FlowTable.Direction.IN);
        var events = start("tracer-stream", () -> {
            new GuestDecoder(clock, report, tape).run(before(machine.events()));
            return new StreamMatch(CaptureName.EVENTS.text(), 0, null);
        });
        machine.resume();
        String stalled = await(machine, extent);
        var matches = new ArrayList<StreamMatch>();
        await(events);
        matches.add(await(out));
        matches.add(await(in));
        flows.finish();
        tape.finish();
        for (CaptureName sent : CaptureName.SENT) {
            String name = sent.text();
            SealedCapture capture = request.inputs().captures().get(name);
            try (InputStream recorded = capture == null ? InputStream.nullInputStream() : capture.open();
                    InputStream replayed = Files.newInputStream(machine.capture(name))) {
                matches.add(StreamMatch.of(name, recorded, replayed));
            }
        }
        return new Result(matches, stalled == null ? printed(machine, matches) : null, extent, stalled);
    }

    private @Nullable OutputMatch printed(ReplayMachine machine, List<StreamMatch> matches) throws IOException {
        String name = CaptureName.STDIO.text();
        if (matches.stream().noneMatch(each -> each.name().equals(name) && each.fault() != null)) {
            return null;
        }
        try (InputStream recorded = sealed(name).open();
                InputStream replayed = Files.newInputStream(machine.capture(name))) {
            return PrintedMatch.first(
                    recorded, replayed, new DataFolder(request.recordings().data()).cache());
        }
    }

    /// Waits for QEMU's end; null, or why the replay did not reach the log's end.
    private @Nullable String await(ReplayMachine machine, LogExtent extent)
            throws VmException, IOException, InterruptedException {
        var watchdog = new Watchdog(STILL_MAX, "instruction", System::nanoTime);
        for (long looks = 1; !machine.awaitEnd(LOOK_EVERY); looks++) {
            if (Thread.interrupted()) {
                machine.kill();
                throw new InterruptedException("the replay was interrupted");
            }
            if (tape.failure() != null) {
                machine.kill();
                tape.check();
            }
            long position = machine.position();
            String still = position < 0 ? null : watchdog.see(position);
            if (still != null) {
                machine.kill();
                return "the replay was stuck: " + still;
            }
            if (looks % SAY_EVERY_LOOKS == 0 && position >= 0) {
                progress.say(percent(position, extent.instructions()) + " % of " + extent.instructions() / 1_000_000
                        + " million instructions");
            }
        }
        return extent.end() ? null : CUT + machine.lastWords();
    }

    private static long percent(long position, long all) {
        return all == 0 ? 100 : Math.min(100, 100 * position / all);
    }

    /// What the tracer sent before the snapshot precedes what it sends here.
    private InputStream before(InputStream events) throws IOException {
        Path before = CaptureName.EVENTS_BEFORE.in(recording.captures());
        return new java.io.SequenceInputStream(Files.newInputStream(before), events);
    }

    private FutureTask<StreamMatch> compare(String name, InputStream frames, FlowTable.Direction direction) {
        SealedCapture recorded = request.inputs().captures().get(name);
        return start(name, () -> {
            // Folded into flows as they pass, as a recorder does, while they are compared.
            try (InputStream expected = recorded == null ? InputStream.nullInputStream() : recorded.open();
                    var match = new MatchingInput(name, expected, new BufferedInputStream(frames))) {
                flows.read(match, direction);
                return recorded == null ? new StreamMatch(name, 0, null) : match.finish();
            }
        });
    }

    private static FutureTask<StreamMatch> start(String name, java.util.concurrent.Callable<StreamMatch> work) {
        var task = new FutureTask<>(work);
        Thread.ofPlatform().daemon().name(name).start(task);
        return task;
    }

    private static StreamMatch await(FutureTask<StreamMatch> task) throws IOException, InterruptedException {
        try {
            return task.get();
        } catch (ExecutionException e) {
            throw new IOException("the replay's output could not be read", e.getCause());
        }
    }

    private InputStream log() throws IOException {
        SealedCapture log = sealed(CaptureName.LOG.text());
        return log.open(Math.min(logBytes, log.sealedBytes()));
    }

    private SealedCapture sealed(String name) throws IOException {
        SealedCapture capture = request.inputs().captures().get(name);
        if (capture == null) {
            throw new IOException("the run has no captured file " + name);
        }
        return capture;
    }
}
