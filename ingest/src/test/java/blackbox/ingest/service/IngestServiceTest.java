package blackbox.ingest.service;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.storage.LocalStore;
import blackbox.ingest.DuckRows;
import blackbox.ingest.DuckRows.ReadRow;
import blackbox.ingest.IngestException;
import blackbox.ingest.IngestException.Code;
import blackbox.ingest.Traffic;
import blackbox.ingest.check.Ownership;
import blackbox.ingest.kafka.EmbeddedBroker;
import blackbox.ingest.service.IngestService.Awaited;
import blackbox.ingest.service.IngestSettings.TopicRetention;
import blackbox.ingest.table.CommitStep;
import blackbox.ingest.table.DataFileEntry;
import blackbox.ingest.table.EventTable;
import blackbox.recorder.publish.KafkaPublisher;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The whole way from sealed batches to rows, over a real broker.
final class IngestServiceTest {

    private static final Ed25519Key INGEST_KEY = Ed25519Key.create("ingest.test", new SecureRandom());
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path data;

    private EmbeddedBroker broker;

    @BeforeEach
    void startBroker() throws IngestException {
        broker = EmbeddedBroker.start(data.resolve("kafka"), EmbeddedBroker.ANY_PORT);
    }

    @AfterEach
    void stopBroker() {
        broker.close();
    }

    private IngestService startService() throws IngestException {
        return startService(CommitStep.Observer.NONE);
    }

    private IngestService startService(CommitStep.Observer observer) throws IngestException {
        var settings = new IngestSettings(
                data,
                LocalStore.in(new DataFolder(data)),
                broker.clients(),
                TopicRetention.RELEASE_COMMITTED,
                () -> List.of(Traffic.KEY.verifier()),
                INGEST_KEY,
                new IngestRole.Alone(Ownership.ALL));
        return IngestService.start(settings, InstantSource.system(), observer);
    }

    private void publish(List<SealedBatch> batches) throws Exception {
        var waiting = new CountDownLatch(batches.size());
        try (var publisher = new KafkaPublisher(broker.clients())) {
            for (SealedBatch batch : batches) {
                publisher.publish(batch, waiting::countDown);
            }
            assertTrue(waiting.await(60, TimeUnit.SECONDS));
            assertNull(publisher.trouble());
        }
    }

    private List<ReadRow> rows(Traffic... runs) throws Exception {
        var rows = new ArrayList<ReadRow>();
        EventTable table = EventTable.openForReading(new DataFolder(data));
        assertNotNull(table);
        try (table) {
            for (Traffic run : runs) {
                rows.addAll(DuckRows.read(
                        table.plan(run.run()).stream().map(DataFileEntry::path).toList()));
            }
        }
        return rows;
    }

    private static List<byte[]> leaves(Traffic traffic, long endIndex) {
        var leaves = new ArrayList<byte[]>();
        for (SealedBatch batch : traffic.batches()) {
            LeafCursor cursor = batch.leaves();
            while (leaves.size() < endIndex && cursor.next()) {
                leaves.add(Arrays.copyOfRange(cursor.array(), cursor.offset(), cursor.offset() + cursor.length()));
            }
        }
        return leaves;
    }

    private static void assertSame(Traffic traffic, long endIndex, List<ReadRow> rows) {
        List<byte[]> leaves = leaves(traffic, endIndex);
        assertEquals(leaves.size(), rows.size());
        for (int i = 0; i < leaves.size(); i++) {
            assertEquals(i, rows.get(i).index());
            assertArrayEquals(leaves.get(i), rows.get(i).leaf(), "leaf " + i);
        }
    }

    @Test
    void runsBecomeRowsOnceEvenWhenSentTwice() throws Exception {
        var one = new Traffic(new Random(1));
        var two = new Traffic(new Random(2));
        for (int i = 0; i < 4; i++) {
            one.batch(500);
            two.batch(300);
        }
        one.close();
        try (IngestService service = startService()) {
            publish(one.batches());
            publish(two.batches().subList(0, 3));
            publish(two.batches());
            assertEquals(
                    Awaited.COMMITTED,
                    service.await(one.run(), one.batches().getLast().endIndex(), PATIENCE));
            assertEquals(
                    Awaited.COMMITTED,
                    service.await(two.run(), two.batches().getLast().endIndex(), PATIENCE));
            publish(one.batches());
            two.batch(10);
            publish(two.batches());
            assertEquals(
                    Awaited.COMMITTED,
                    service.await(two.run(), two.batches().getLast().endIndex(), PATIENCE));
        }
        try (IngestService service = startService()) {
            publish(one.batches());
            two.batch(20);
            publish(two.batches());
            assertEquals(
                    Awaited.COMMITTED,
                    service.await(two.run(), two.batches().getLast().endIndex(), PATIENCE));
            assertEquals(0, service.status().refused());
        }
        assertSame(one, Long.MAX_VALUE, rows(one));
        assertSame(two, Long.MAX_VALUE, rows(two));
    }

    @Test
    void aRefusedBatchStopsItsRunAndNoOther() throws Exception {
        var good = new Traffic(new Random(3));
        var bad = new Traffic(new Random(4));
        for (int i = 0; i < 3; i++) {
            good.batch(100);
            bad.batch(100);
        }
        try (IngestService service = startService()) {
            publish(List.of(bad.batches().get(0), bad.batches().get(2)));
            publish(good.batches());
            publish(List.of(bad.batches().get(1)));
            assertEquals(
                    Awaited.COMMITTED,
                    service.await(good.run(), good.batches().getLast().endIndex(), PATIENCE));
            assertEquals(
                    Awaited.STOPPED,
                    service.await(bad.run(), bad.batches().getLast().endIndex(), PATIENCE));
        }
        assertSame(good, Long.MAX_VALUE, rows(good));
        assertSame(bad, bad.batches().getFirst().endIndex(), rows(bad));
        try (Stream<Path> kept =
                Files.list(data.resolve("quarantine").resolve(bad.run().value()))) {
            List<String> names =
                    kept.map(file -> file.getFileName().toString()).sorted().toList();
            assertTrue(names.getLast().startsWith("000000000002-"), names.toString());
        }
    }

    @Test
    void howFarBehindItIsIsKnown() throws Exception {
        var run = new Traffic(new Random(5));
        for (int i = 0; i < 200; i++) {
            run.batch(2);
        }
        run.close();
        var committing = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        CommitStep.Observer observer = step -> {
            committing.countDown();
            await(go);
        };
        try (IngestService service = startService(observer)) {
            awaitStatus(service, status -> status.unread() == 0);
            assertEquals(Duration.ZERO, service.status().waiting());
            publish(run.batches().subList(0, 1));
            await(committing);
            publish(run.batches().subList(1, 201));
            // What it has read and not handed on is bounded: the rest stays in the topic.
            IngestStatus behind = awaitStatus(service, status -> status.unread() > 50);
            Duration waiting = behind.waiting();
            assertTrue(waiting.isPositive());
            awaitStatus(service, status -> status.waiting().compareTo(waiting) > 0);
            go.countDown();
            assertEquals(
                    Awaited.COMMITTED,
                    service.await(run.run(), run.batches().getLast().endIndex(), PATIENCE));
            awaitStatus(
                    service, status -> status.unread() == 0 && status.waiting().isZero());
        }
    }

    @Test
    void aBrokerThatIsGoneIsNoticedWithoutWork() throws Exception {
        try (IngestService service = startService()) {
            awaitStatus(service, status -> status.unread() == 0);
            broker.close();
            IngestStatus gone = awaitStatus(service, status -> status.phase() == IngestStatus.Phase.RETRYING);
            assertNotNull(gone.trouble());
            assertEquals(
                    -1, awaitStatus(service, status -> status.unread() != 0).unread());
        }
    }

    /// It opens again, and fails again at the next commit: all that time it does not work.
    @Test
    void whatFailsAtEveryCommitDoesNotSayThatItWorks() throws Exception {
        var run = new Traffic(new Random(6));
        run.batch(2);
        run.close();
        var fails = new AtomicBoolean(true);
        var commits = new AtomicInteger();
        CommitStep.Observer observer = step -> {
            if (step == CommitStep.BEFORE_FILES && fails.get()) {
                commits.incrementAndGet();
                IngestServiceTest.<RuntimeException>fail(new IngestException(Code.DISK_FULL, "no room"));
            }
        };
        try (IngestService service = startService(observer)) {
            awaitStatus(service, status -> status.unread() == 0);
            publish(run.batches());
            awaitStatus(service, status -> status.phase() == IngestStatus.Phase.RETRYING);
            long failedNs = System.nanoTime();
            while (commits.get() < 3) {
                IngestStatus status = service.status();
                assertEquals(IngestStatus.Phase.RETRYING, status.phase());
                assertEquals("no room", status.trouble());
                assertTrue(System.nanoTime() - failedNs < PATIENCE.toNanos());
            }
            assertTrue(service.status().waiting().toNanos() >= System.nanoTime() - failedNs - 1_000_000);
            fails.set(false);
            awaitStatus(
                    service,
                    status -> status.phase() == IngestStatus.Phase.RUNNING
                            && status.trouble() == null
                            && status.waiting().isZero());
        }
        assertSame(run, Long.MAX_VALUE, rows(run));
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void fail(Throwable why) throws E {
        throw (E) why;
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static IngestStatus awaitStatus(IngestService service, Predicate<IngestStatus> wanted) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        IngestStatus status = service.status();
        while (!wanted.test(status)) {
            assertTrue(System.nanoTime() < deadline, status.toString());
            Thread.onSpinWait();
            status = service.status();
        }
        return status;
    }

    @Test
    void aSecondIngestIsRefused() throws Exception {
        try (IngestService _ = startService()) {
            IngestException refused = assertThrows(IngestException.class, this::startService);
            assertEquals(Code.IN_USE, refused.code());
        }
    }
}
