package blackbox.node.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.store.Recordings;
import blackbox.ingest.kafka.EmbeddedBroker;
import blackbox.ingest.service.IngestService;
import blackbox.ingest.service.IngestStatus;
import blackbox.recorder.publish.KafkaPublisher;
import blackbox.recorder.runlog.RunCheckpoints;
import blackbox.recorder.seal.RunRecorder;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.seal.SteadyClock;
import blackbox.recorder.spool.RunLock;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Several hosts, each with a log of runs of its own, on one Kafka cluster.
class SharedTopicTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private EmbeddedBroker broker;

    /// What the operator of the cluster gave to its users.
    private Path settings;

    /// A host: its data folder, and a run that it recorded.
    private final class Host {
        private final DataFolder data;
        private final RunId run = RunId.create(Instant.now(), new SecureRandom());
        private long events;

        Host(String name) throws Exception {
            data = new DataFolder(folder.resolve(name));
            Files.createDirectories(data.root());
        }

        KafkaSettings kafka(KafkaSettings.Ingest ingest) {
            return new KafkaSettings(broker.bootstrapServers(), settings, ingest);
        }

        Pipeline pipeline() throws Exception {
            PipelineLock lock = PipelineLock.tryTake(data);
            assertNotNull(lock);
            return Pipeline.start(lock, data, kafka(KafkaSettings.Ingest.HERE));
        }

        /// Records the run into its spool, in several batches, and brings it as far as the settings say.
        @Nullable
        String record(KafkaSettings.Ingest ingest) throws Exception {
            try (RunLock lock = RunLock.take(data, run);
                    var certification = new RunCertification(data, run, new SecureRandom())) {
                assertNotNull(lock, "without it the spool would be taken for a dead recorder's");
                return record(ingest, certification.certify());
            }
        }

        private @Nullable String record(KafkaSettings.Ingest ingest, RunCertification.Certified certified)
                throws Exception {
            Spool spool = Spool.create(data.spool(), run);
            var publication = new Publication(data, run, spool, kafka(ingest), _ -> {}, () -> {});
            try {
                events = seal(spool, certified);
                boolean here = ingest == KafkaSettings.Ingest.HERE;
                assertEquals(here ? RecordResult.Place.TABLE : RecordResult.Place.BROKER, publication.goal());
                return publication.finish(events, PATIENCE);
            } finally {
                publication.close();
            }
        }

        private long seal(Spool spool, RunCertification.Certified certified) throws Exception {
            var steady = SteadyClock.over(InstantSource.system());
            try (var checkpoints = new RunCheckpoints(spool, certified.runs().log(), Duration.ofMinutes(1), _ -> {})) {
                var sealer = new RunSealer(run, certified.keys(), checkpoints, steady);
                var opening = new ObjectMapper().createObjectNode();
                opening.putObject("recorder").put("certificate", certified.certificate());
                sealer.append(new Event.RunOpen(EventHeader.host(1), null, opening.toString()));
                var recorder = new RunRecorder(sealer, run.value());
                for (int i = 0; i < 4; i++) {
                    recorder.flush();
                    recorder.accept(new Event.VmLifecycle(EventHeader.host(1), "STOP", null));
                }
                recorder.accept(new Event.RunClose(EventHeader.host(1), 0, 0, 0, 0, "{}"));
                recorder.close();
                return recorder.recorded();
            } finally {
                spool.close();
            }
        }

        NoteVerifier logKey() throws Exception {
            return NoteVerifiers.parse(Files.readString(data.logKey()));
        }

        void assertHasOnlyItsOwn(Host other) throws Exception {
            assertEquals(events, Recordings.unchecked(data.root()).sealedEnd(run));
            assertFalse(Files.exists(data.dataFiles(other.run)));
            assertFalse(Files.exists(data.quarantine()), "nothing is refused");
        }
    }

    @BeforeEach
    void startBroker() throws Exception {
        broker = EmbeddedBroker.start(folder.resolve("kafka"), EmbeddedBroker.ANY_PORT);
        settings = folder.resolve("client.properties");
        try (var out = Files.newBufferedWriter(settings)) {
            broker.clients().store(out, null);
        }
    }

    @AfterEach
    void stopBroker() {
        broker.close();
    }

    /// Waits for ingest to have done what is wanted.
    private static IngestStatus await(IngestService ingest, Predicate<IngestStatus> wanted) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!wanted.test(ingest.status()) && System.nanoTime() < deadline) {
            aMoment(ingest);
        }
        assertTrue(wanted.test(ingest.status()), () -> ingest.status().toString());
        return ingest.status();
    }

    /// Waits in vain for a run that does not exist.
    private static void aMoment(IngestService ingest) throws Exception {
        ingest.await(RunId.create(Instant.now(), new SecureRandom()), 1, Duration.ofMillis(50));
    }

    private void publish(List<SealedBatch> batches) throws Exception {
        var waiting = new CountDownLatch(batches.size());
        try (var publisher = new KafkaPublisher(broker.clients())) {
            for (SealedBatch batch : batches) {
                publisher.publish(batch, waiting::countDown);
            }
            assertTrue(waiting.await(PATIENCE.toSeconds(), TimeUnit.SECONDS));
        }
    }

    @Test
    void eachHostIngestsItsOwnRunsAndRefusesNone() throws Exception {
        var one = new Host("one");
        var two = new Host("two");
        assertNull(one.record(KafkaSettings.Ingest.HERE));
        assertNull(two.record(KafkaSettings.Ingest.HERE));
        try (Pipeline pipeline = one.pipeline()) {
            IngestStatus status = await(pipeline.ingest(), now -> now.foreign() > 0);
            assertEquals(0, status.refused());
        }
        one.assertHasOnlyItsOwn(two);
        two.assertHasOnlyItsOwn(one);
        // What is made up about a run of one's own is a finding, also when nothing else has come of it.
        var own = new Host("one");
        try (var certification = new RunCertification(own.data, own.run, new SecureRandom());
                Pipeline pipeline = own.pipeline()) {
            assertNotNull(certification.certify());
            publish(forged(own.run));
            IngestStatus status = await(pipeline.ingest(), now -> now.refused() == 2);
            assertEquals(0, status.batches());
            assertTrue(Files.exists(own.data.quarantine(own.run)));
        }
    }

    /// Two batches of a run by a key that nobody certified.
    private static List<SealedBatch> forged(RunId run) throws Exception {
        var forged = new ArrayList<SealedBatch>();
        var sealer = new RunSealer(
                run, Ed25519Key.create("stranger", new SecureRandom()), forged::add, InstantSource.system());
        sealer.append(new Event.RunOpen(EventHeader.host(1), null, "{}"));
        sealer.seal();
        sealer.seal();
        return forged;
    }

    @Test
    void aRecorderAloneLeavesItsRunToTheGroup() throws Exception {
        var recorder = new Host("recorder");
        assertNull(recorder.record(KafkaSettings.Ingest.ELSEWHERE));
        assertFalse(Files.exists(recorder.data.catalog()), "it has no table");
        assertEquals(List.of(), Recordings.entries(recorder.data.spool(recorder.run)), "the broker has it");
        var stranger = new Host("stranger");
        assertNull(stranger.record(KafkaSettings.Ingest.ELSEWHERE));
        var group = new Host("group");
        try (IngestService one = member(group, recorder);
                IngestService two = member(group, recorder)) {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            Recordings there = Recordings.unchecked(group.data.root());
            while (there.sealedEnd(recorder.run) < recorder.events && System.nanoTime() < deadline) {
                aMoment(one);
            }
            assertEquals(recorder.events, there.sealedEnd(recorder.run), () -> one.status() + " " + two.status());
            await(one, now -> now.foreign() + two.status().foreign() > 0);
            assertEquals(0, one.status().refused() + two.status().refused());
        }
        assertFalse(Files.exists(group.data.dataFiles(stranger.run)));
        assertFalse(Files.exists(group.data.quarantine()));
    }

    private static IngestService member(Host group, Host trusted) throws Exception {
        return IngestMember.start(group.data, group.kafka(KafkaSettings.Ingest.HERE), List.of(trusted.logKey()));
    }
}
