package blackbox.recorder.seal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.sign.Ed25519Key;
import blackbox.recorder.RecorderException;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What waits to be sealed is bounded by what it takes of memory, not by how many events it is.
@Timeout(120)
class RunRecorderTest {
    private static final RunId RUN = RunId.create(Instant.EPOCH, new Random(1));
    private static final int EVENTS = 600;
    /// As many as fit into a frame, each empty: they are small in a leaf, and large in memory.
    private static final List<Text> ARGUMENTS = Collections.nCopies(60_000, Text.of(""));

    private static Event heavy() {
        return new Event.ProcessExec(EventHeader.host(42), Text.of("/x"), ARGUMENTS, null, null, 0);
    }

    @Test
    void aSlowDiskHoldsTheGuestBackBeforeItsEventsFillTheMemory() throws Exception {
        var disk = new CountDownLatch(1);
        var key = Ed25519Key.create("blackbox/recorder", new SecureRandom());
        BatchSink slow = batch -> {
            try {
                disk.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        };
        var recorder = new RunRecorder(new RunSealer(RUN, key, slow, InstantSource.system()), "test");
        var accepted = new AtomicInteger();
        Thread guest = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < EVENTS; i++) {
                try {
                    recorder.accept(heavy());
                } catch (RecorderException e) {
                    return;
                }
                accepted.incrementAndGet();
            }
        });
        long weight = EventWeight.of(heavy());
        assertTrue(weight * EVENTS > 4L * RunRecorder.QUEUE_BYTES_MAX, "enough to fill it");
        while (recorder.queuedBytes() + weight <= RunRecorder.QUEUE_BYTES_MAX) {
            assertTrue(guest.isAlive(), "the guest was not held back");
            Thread.onSpinWait();
        }
        assertTrue(guest.isAlive(), "the guest was not held back");
        disk.countDown();
        guest.join();
        recorder.close();
        assertEquals(EVENTS, accepted.get());
        assertTrue(recorder.recorded() > EVENTS, "and nothing is missing");
        assertEquals(0, recorder.queuedBytes());
    }

    private static Event question(int number) {
        return new Event.Access(Kind.ACCESS_REQUEST, EventHeader.host(number), "x", null, null, null, "{}");
    }

    /// Each thread's events are sealed when its flush returns, however many flush at once, and few batches do for all.
    @Test
    void manyMayWaitForWhatTheyRecorded() throws Exception {
        var key = Ed25519Key.create("blackbox/recorder", new SecureRandom());
        var sealed = new AtomicInteger();
        var batches = new AtomicInteger();
        BatchSink disk = batch -> {
            sealed.addAndGet(batch.count());
            batches.incrementAndGet();
        };
        int threads = 64;
        int each = 50;
        try (var recorder =
                new RunRecorder(new RunSealer(RUN, key, disk, InstantSource.system()), "test", Duration.ofHours(1))) {
            var missing = new AtomicInteger();
            var all = new ArrayList<Thread>();
            for (int thread = 0; thread < threads; thread++) {
                all.add(Thread.ofPlatform().start(() -> {
                    try {
                        for (int number = 0; number < each; number++) {
                            recorder.accept(question(number));
                            recorder.flush();
                        }
                    } catch (RecorderException | RuntimeException e) {
                        missing.incrementAndGet();
                    }
                }));
            }
            for (Thread one : all) {
                one.join();
            }
            assertEquals(0, missing.get());
            assertEquals(threads * each, sealed.get() - batches.get(), "all but a heartbeat for each batch");
        }
        assertTrue(batches.get() < threads * each / 4, batches.get() + " batches");
    }

    /// While nothing happens nothing is sealed, but what happens is not held back for as long.
    @Test
    void aQuietRunIsSealedSoonAfterAnEvent() throws Exception {
        var key = Ed25519Key.create("blackbox/recorder", new SecureRandom());
        var first = new CountDownLatch(1);
        var batches = new AtomicInteger();
        BatchSink disk = _ -> {
            batches.incrementAndGet();
            first.countDown();
        };
        try (var recorder =
                new RunRecorder(new RunSealer(RUN, key, disk, InstantSource.system()), "test", Duration.ofHours(1))) {
            recorder.accept(question(1));
            assertTrue(first.await(30, TimeUnit.SECONDS));
        }
        assertEquals(2, batches.get(), "and once at its end");
    }

    @Test
    void whatComesAfterTheCloseIsNotCalledDurable() throws Exception {
        var key = Ed25519Key.create("blackbox/recorder", new SecureRandom());
        var recorder = new RunRecorder(new RunSealer(RUN, key, _ -> {}, InstantSource.system()), "test");
        recorder.accept(new Event.RunClose(EventHeader.host(1), 0, 0, null, null, null));
        recorder.accept(question(2));
        for (int twice = 0; twice < 2; twice++) {
            assertThrows(RecorderException.class, recorder::flush);
        }
        assertThrows(RecorderException.class, recorder::close);
    }

    @Test
    void nobodyWaitsForAWriterThatHasFailed() throws Exception {
        var key = Ed25519Key.create("blackbox/recorder", new SecureRandom());
        BatchSink full = _ -> {
            throw new RecorderException(RecorderException.Code.SPOOL, "no room");
        };
        var recorder = new RunRecorder(new RunSealer(RUN, key, full, InstantSource.system()), "test");
        recorder.accept(question(1));
        for (int times = 0; times < 3; times++) {
            assertThrows(RecorderException.class, recorder::flush);
        }
        assertThrows(RecorderException.class, recorder::close);
    }

    @Test
    void whatGuestAndHostDoNotAgreeOnIsSealedBehindItsCauseAndBeforeTheClose() throws Exception {
        var key = Ed25519Key.create("blackbox/recorder", new SecureRandom());
        var sealed = new ArrayList<SealedBatch>();
        try (var recorder =
                new RunRecorder(new RunSealer(RUN, key, sealed::add, InstantSource.fixed(Instant.EPOCH)), "test")) {
            recorder.accept(new Event.RunOpen(EventHeader.host(1), null, "{\"network\":\"gateway\"}"));
            recorder.accept(new Event.TracerReady(EventHeader.host(1), "{\"attached\":[\"tcp_connect\"]}"));
            recorder.accept(new Event.NetFlow(
                    EventHeader.host(2),
                    "tcp",
                    new Endpoint("10.0.2.99", 5),
                    new Endpoint("192.0.2.1", 80),
                    null,
                    0,
                    0,
                    1L,
                    0L,
                    "open"));
            recorder.accept(new Event.EgressDecision(
                    EventHeader.host(3),
                    "allow",
                    "tcp",
                    new Endpoint("10.0.2.15", 6),
                    new Endpoint("192.0.2.1", 80),
                    null,
                    "{\"stage\":\"connect\"}"));
            recorder.accept(new Event.RunClose(EventHeader.host(4), 0, 0, 0, null, null));
        }
        var told = new ArrayList<String>();
        var row = new Row();
        for (SealedBatch batch : sealed) {
            for (LeafCursor leaves = batch.leaves(); leaves.next(); ) {
                LeafCodec.decode(leaves.array(), leaves.offset(), leaves.offset() + leaves.length(), row);
                Kind kind = Kind.ofCode(row.number(Column.KIND));
                if (kind != Kind.RECORDER_HEARTBEAT) {
                    told.add(
                            kind == Kind.RECORDER_FINDING
                                    ? row.text(Column.WHAT).toString()
                                    : String.valueOf(kind));
                }
            }
        }
        assertEquals(
                List.of(
                        "RUN_OPEN",
                        "TRACER_READY",
                        "NET_FLOW",
                        "SOURCE_FORGED",
                        "EGRESS_DECISION",
                        "FLOW_WITHOUT_CONNECT",
                        "RUN_CLOSE"),
                told);
    }
}
