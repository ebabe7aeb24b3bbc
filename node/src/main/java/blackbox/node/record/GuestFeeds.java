package blackbox.node.record;

import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.GuestDecoder;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.net.FlowTable;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.CaptureName;
import blackbox.schemas.net.PcapReader;
import blackbox.vm.machine.StartFacts;
import blackbox.vm.machine.VirtualMachine;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The threads that carry what a VM says and does to whoever keeps it, as events: the tracer's stream, the frames
/// of both directions, and a watch on the tracer's heartbeat. They end when the VM does.
public final class GuestFeeds {

    private static final int CPUS_MAX = 4_096;
    private static final long LOOK_EVERY_MS = 1_000;
    private static final long SEAL_CAPTURES_EVERY_MS = 500;

    private final Keeper recorder;
    private final HostClock clock;
    private final GuestDecoder decoder;
    private final FlowTable flows = new FlowTable();
    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final Thread watcher;
    private final Captures captures;
    private final VmLog log;
    private final Consumer<String> stop;
    private volatile @Nullable RecorderException failure;
    private volatile boolean silenceExpected;
    private volatile boolean undrained;

    /// @param captures the files that are sealed while they grow
    /// @param stop ends the VM, and is told why: called at most once, when what the agent does can no longer be
    /// recorded, or when QEMU has stopped the guest for good
    public GuestFeeds(
            VirtualMachine vm,
            Keeper recorder,
            HostClock clock,
            List<Long> cpuSeq,
            VmLog log,
            Captures captures,
            Consumer<String> stop) {
        this.recorder = recorder;
        this.captures = captures;
        this.clock = clock;
        this.log = log;
        this.stop = stop;
        this.decoder = new GuestDecoder(clock, cpuSeq, recorder::record);
        threads.add(start("tracer-stream", () -> decoder.run(vm.events())));
        threads.add(start(CaptureName.FRAMES_OUT.text(), () -> fold(captures.framesOut(vm), FlowTable.Direction.OUT)));
        threads.add(start(CaptureName.FRAMES_IN.text(), () -> fold(captures.framesIn(vm), FlowTable.Direction.IN)));
        threads.add(start("captures", this::sealCaptures));
        // Not a virtual one: the JVM has a poller for these, and waits 0.3 s for it when the program ends.
        watcher = Thread.ofPlatform().daemon().name("silence-watch").start(this::watch);
    }

    /// Keeps events, whatever thread they come from; may block.
    public interface Keeper {
        void record(Event event) throws RecorderException;

        /// What stopped it, or null.
        @Nullable
        RecorderException failure();
    }

    @FunctionalInterface
    private interface Feed {
        void run() throws RecorderException, IOException;
    }

    private Thread start(String name, Feed feed) {
        return Thread.ofPlatform().name(name).start(() -> {
            try {
                feed.run();
            } catch (RecorderException e) {
                failure = e;
            } catch (IOException e) {
                finding("FRAMES_UNREADABLE", name);
            }
        });
    }

    private void fold(KeptFrames frames, FlowTable.Direction direction) throws IOException, RecorderException {
        try (frames) {
            new PcapReader(frames).forEach(frame -> {
                synchronized (flows) {
                    flows.add(frame, direction, clock.nowNs()).forEach(this::recordUnchecked);
                }
            });
            if (frames.failure() != null) {
                finding(
                        "CAPTURE_FAILED",
                        direction == FlowTable.Direction.OUT
                                ? CaptureName.FRAMES_OUT.text()
                                : CaptureName.FRAMES_IN.text());
            }
        } catch (StoppedException e) {
            throw e.reason;
        }
    }

    /// Carries a checked exception through a lambda.
    private static final class StoppedException extends RuntimeException {
        private static final long serialVersionUID = 1L;
        final transient RecorderException reason;

        StoppedException(RecorderException reason) {
            super(reason);
            this.reason = reason;
        }
    }

    /// On a thread of its own: making a file durable may take longer than the watch may be away.
    private void sealCaptures() throws RecorderException {
        try {
            do {
                captures.sealNew(clock::nowNs, recorder::record);
            } while (!stopped.await(SEAL_CAPTURES_EVERY_MS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void recordUnchecked(Event event) {
        try {
            recorder.record(event);
        } catch (RecorderException e) {
            throw new StoppedException(e);
        }
    }

    private void watch() {
        var watch = new SilenceWatch(clock.pace(), clock.nowNs(), System.nanoTime());
        try {
            while (!stopped.await(LOOK_EVERY_MS, TimeUnit.MILLISECONDS)) {
                // What QEMU tells of belongs into the epoch in which it was heard.
                log.handTo(recorder::record);
                Event event = watch.look(decoder.heardNs(), clock.nowNs(), System.nanoTime());
                if (event != null && !silenceExpected) {
                    recorder.record(event);
                }
                String why = cannotGoOn();
                if (why != null) {
                    stop.accept(why);
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RecorderException e) {
            failure = e;
            stop.accept(String.valueOf(e.getMessage()));
        }
    }

    /// An agent whose deeds are not recorded must not go on, and a guest whose disk QEMU could not write stands
    /// still.
    private @Nullable String cannotGoOn() {
        RecorderException stopped = failure == null ? recorder.failure() : failure;
        return stopped == null ? log.halted() : stopped.getMessage();
    }

    private void finding(String what, String where) {
        try {
            String detail = "{\"where\":\"" + where + "\"}";
            recorder.record(new Event.RecorderFinding(EventHeader.host(clock.nowNs()), what, detail));
        } catch (RecorderException e) {
            failure = e;
        }
    }

    /// Where the tracer says that each CPU's sequence stood when it became ready.
    public static List<Long> cpuSeq(StartFacts facts) {
        var numbers = new ArrayList<Long>();
        try {
            for (JsonNode number :
                    new ObjectMapper().readTree(facts.ready().tracer()).path("cpuSeq")) {
                if (numbers.size() < CPUS_MAX) {
                    numbers.add(Math.max(0, number.asLong()));
                }
            }
        } catch (JsonProcessingException e) {
            return List.of(); // every number from 1 to the first that comes is then declared lost
        }
        return numbers;
    }

    /// Stops watching for silence: from here on the tracer may rightly be quiet.
    public void expectSilence() {
        silenceExpected = true;
    }

    /// Says that the tracer could not be asked for the last of what it has: how much is missing is not known.
    public void missTheLast() {
        undrained = true;
    }

    /// Waits for the streams to end, which they do with the VM, and records what is still folded. To be called when the
    /// VM has ended: nobody writes to a captured file any more.
    ///
    /// @return why a captured file is not sealed to its end, by name; empty when all are
    public SortedMap<String, String> finish() throws RecorderException, InterruptedException {
        expectSilence();
        stopped.countDown();
        watcher.join();
        for (Thread thread : threads) {
            thread.join();
        }
        SortedMap<String, String> unsealed = captures.sealLast(clock::nowNs, recorder::record);
        synchronized (flows) {
            for (Event event : flows.close(clock.nowNs())) {
                recorder.record(event);
            }
        }
        if (undrained || !decoder.sawFinal()) {
            String detail = "{\"heardNs\":" + decoder.heardNs() + "}";
            recorder.record(new Event.RecorderFinding(EventHeader.host(clock.nowNs()), "TRACER_UNFINISHED", detail));
        }
        return unsealed;
    }
}
