package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.ingest.kafka.EmbeddedBroker;
import blackbox.recorder.runlog.RunCheckpoints;
import blackbox.recorder.seal.RunRecorder;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.seal.SteadyClock;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.BatchTopic;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A run whose batches go to the broker of another process of the same data folder.
class PublicationTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration HASTE = Duration.ofSeconds(1);
    private static final long SLACK_MS = 3_000;

    @TempDir
    Path folder;

    /// The other process has a broker that accepts everything, and no ingest that would put it into the table.
    @Test
    void aRunIsDoneOnceItIsInTheTableWhoeverIngestsIt() throws Exception {
        var data = new DataFolder(folder);
        var run = RunId.create(Instant.now(), new SecureRandom());
        PipelineLock other = PipelineLock.tryTake(data);
        assertNotNull(other);
        EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("kafka"), EmbeddedBroker.ANY_PORT);
        try (var certification = new RunCertification(data, run, new SecureRandom())) {
            makeTopic(broker);
            other.announce(broker.clients());
            Spool spool = Spool.create(data.spool(), run);
            var publication = new Publication(data, run, spool, KafkaSettings.EMBEDDED, line -> {}, () -> {});
            try {
                long events = record(run, spool, certification.certify());
                assertTrue(spool.awaitEmpty(PATIENCE.toNanos()), "the broker has not accepted everything");
                String unfinished = publication.finish(events, Duration.ofSeconds(1));
                assertEquals("the process that holds the pipeline has ingested 0 of " + events + " events", unfinished);
                broker.close();
                other.close();
                assertNull(publication.finish(events, PATIENCE));
                assertEquals(events, Recordings.unchecked(folder).sealedEnd(run));
            } finally {
                publication.close();
            }
        } finally {
            broker.close();
            other.close();
        }
    }

    /// As after Ctrl-C, when the other process holds the pipeline and has not announced its broker.
    @Test
    void anInterruptedRunIsLeftInTheSpool() throws Exception {
        var data = new DataFolder(folder);
        var run = RunId.create(Instant.now(), new SecureRandom());
        try (PipelineLock other = PipelineLock.tryTake(data);
                var certification = new RunCertification(data, run, new SecureRandom())) {
            assertNotNull(other);
            Spool spool = Spool.create(data.spool(), run);
            var publication = new Publication(data, run, spool, KafkaSettings.EMBEDDED, line -> {}, () -> {});
            long events = record(run, spool, certification.certify());
            long began = System.nanoTime();
            assertEquals("the broker has not started yet", publication.finish(events, HASTE));
            assertEquals(RecordResult.Place.SPOOL, publication.whereabouts());
            publication.close(HASTE);
            long tookMs = (System.nanoTime() - began) / 1_000_000;
            assertTrue(tookMs < HASTE.toMillis() * 2 + SLACK_MS, () -> tookMs + " ms");
        }
    }

    private static void makeTopic(EmbeddedBroker broker) throws Exception {
        try (Admin admin = Admin.create(broker.clients())) {
            var topic = new NewTopic(BatchTopic.NAME, Optional.of(BatchTopic.PARTITIONS), Optional.empty());
            admin.createTopics(List.of(topic)).all().get();
        }
    }

    private static long record(RunId run, Spool spool, RunCertification.Certified certified) throws Exception {
        var steady = SteadyClock.over(InstantSource.system());
        try (var checkpoints = new RunCheckpoints(spool, certified.runs().log(), Duration.ofMinutes(1), line -> {})) {
            var sealer = new RunSealer(run, certified.keys(), checkpoints, steady);
            var opening = new ObjectMapper().createObjectNode();
            opening.putObject("recorder").put("certificate", certified.certificate());
            sealer.append(new Event.RunOpen(EventHeader.host(1), null, opening.toString()));
            var recorder = new RunRecorder(sealer, run.value());
            recorder.accept(new Event.RunClose(EventHeader.host(1), 0, 0, 0, 0, "{}"));
            recorder.close();
            assertTrue(recorder.recorded() >= 2);
            return recorder.recorded();
        } finally {
            spool.close();
        }
    }
}
