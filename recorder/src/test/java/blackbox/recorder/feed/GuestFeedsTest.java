package blackbox.recorder.feed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.recorder.RecorderException;
import blackbox.recorder.capture.CapturedFiles;
import blackbox.recorder.guest.EventSink;
import blackbox.recorder.guest.HostClock;
import blackbox.recorder.guest.TracerReport;
import blackbox.schemas.event.Event;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// What is found wrong with a machine's streams, with streams that no machine made.
class GuestFeedsTest {
    private static final long PATIENCE_S = 60;

    private final HostClock clock = new HostClock(InstantSource.system());
    private final List<Event> kept = new CopyOnWriteArrayList<>();
    private final CompletableFuture<String> stopped = new CompletableFuture<>();

    @Test
    void aTracerThatNeverSaysThatItIsDoneIsUnfinished() throws Exception {
        var feeds = feeds(nothing(), nothing(), kept::add, new MachineLog(clock));
        assertTrue(feeds.finish().isEmpty());
        assertEquals(List.of("TRACER_UNFINISHED"), findings());
    }

    @Test
    void framesThatAreNoneAreAFinding() throws Exception {
        InputStream noise = new ByteArrayInputStream("no pcap, far from it!!!!".getBytes(StandardCharsets.US_ASCII));
        var feeds = feeds(nothing(), noise, kept::add, new MachineLog(clock));
        feeds.finish();
        assertEquals(List.of("FRAMES_UNREADABLE", "TRACER_UNFINISHED"), findings());
    }

    @Test
    void aSinkThatHasStoppedEndsTheMachine() throws Exception {
        var full = new EventSink() {
            @Override
            public void accept(Event event) {
                kept.add(event);
            }

            @Override
            public @Nullable Exception failure() {
                return new RecorderException(RecorderException.Code.CAPTURE, "the disk is full");
            }
        };
        endsWith("the disk is full", full, new MachineLog(clock));
    }

    @Test
    void aGuestThatWasHaltedEndsTheMachine() throws Exception {
        var log = new MachineLog(clock);
        log.hear("IO_ERROR", null, "the host could not write the VM's disk");
        log.hear("RESUMED", null, null);
        endsWith("the host could not write the VM's disk", kept::add, log);
        assertEquals(
                List.of("IO_ERROR", "RESUMED"),
                kept.stream()
                        .flatMap(each -> each instanceof Event.VmLifecycle told ? Stream.of(told.what()) : Stream.of())
                        .toList());
    }

    @Test
    void aFaultThatNothingForesawEndsTheMachineAndIsAFinding() throws Exception {
        var feeds = feeds(failing(new IllegalStateException()), nothing(), kept::add, new MachineLog(clock));
        assertEquals(
                "the recorder's thread tracer-stream failed (IllegalStateException)",
                stopped.get(PATIENCE_S, TimeUnit.SECONDS));
        feeds.finish();
        assertEquals(List.of("GUEST_STREAM_BROKEN", "TRACER_UNFINISHED"), findings());
    }

    @Test
    void memoryThatIsNotEnoughForAFrameEndsTheMachineAndIsAFinding() throws Exception {
        var feeds = feeds(nothing(), failing(new OutOfMemoryError()), kept::add, new MachineLog(clock));
        assertEquals(
                "the recorder's thread frames-out failed (OutOfMemoryError)",
                stopped.get(PATIENCE_S, TimeUnit.SECONDS));
        feeds.finish();
        assertEquals(List.of("FRAMES_UNREADABLE", "TRACER_UNFINISHED"), findings());
    }

    @Test
    void aWatchThatFailsEndsTheMachine() throws Exception {
        var log = new MachineLog(clock);
        log.hear("RESUMED", null, null);
        EventSink sink = event -> {
            if (event instanceof Event.VmLifecycle) {
                throw new IllegalStateException();
            }
            kept.add(event);
        };
        endsWith("the recorder's thread silence-watch failed (IllegalStateException)", sink, log);
    }

    @Test
    void aStreamThatDoesNotEndWithItsMachineIsNotWaitedForWithoutLimit() throws Exception {
        try (var guest = new PipedOutputStream()) {
            var feeds = feeds(new PipedInputStream(guest), nothing(), kept::add, new MachineLog(clock));
            var left = assertThrows(RecorderException.class, () -> feeds.finish(Duration.ZERO));
            assertEquals(
                    "the recorder's thread tracer-stream did not end within 0 s of the machine's end, so that the run"
                            + " cannot be closed",
                    left.getMessage());
        }
    }

    private static InputStream failing(Throwable why) {
        return new InputStream() {
            @Override
            public int read() {
                if (why instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) why;
            }

            @Override
            public int read(byte[] into, int offset, int length) {
                return read();
            }
        };
    }

    private void endsWith(String why, EventSink sink, MachineLog log) throws Exception {
        try (var guest = new PipedOutputStream()) {
            var feeds = feeds(new PipedInputStream(guest), nothing(), sink, log);
            assertEquals(why, stopped.get(PATIENCE_S, TimeUnit.SECONDS));
            guest.close();
            feeds.finish();
        }
    }

    private GuestFeeds feeds(InputStream events, InputStream frames, EventSink sink, MachineLog log)
            throws IOException {
        var streams = new GuestStreams(events, frames, nothing());
        return new GuestFeeds(
                streams, sink, clock, TracerReport.NONE, log, CapturedFiles.none(), null, stopped::complete);
    }

    private static InputStream nothing() {
        return InputStream.nullInputStream();
    }

    private List<String> findings() {
        return kept.stream()
                .flatMap(each -> each instanceof Event.RecorderFinding finding
                        ? Stream.of(finding.detail().finding().name())
                        : Stream.of())
                .toList();
    }
}
