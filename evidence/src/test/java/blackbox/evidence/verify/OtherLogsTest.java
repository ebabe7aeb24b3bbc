package blackbox.evidence.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.bundle.BundleVerifier;
import blackbox.evidence.bundle.BundleWriter;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.proof.EventProver;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Runs of several hosts in one table: each is certified by the log of runs of its host, of which a copy is here.
class OtherLogsTest {

    @TempDir
    Path folder;

    private Path data;
    private TestLog logOfA;
    private TestLog logOfB;
    private TestRun runOfA;
    private TestRun runOfB;

    @BeforeEach
    void record() throws Exception {
        data = folder.resolve("data");
        logOfA = new TestLog(data.resolve("logs/a")).begin();
        logOfB = new TestLog(data.resolve("logs/host-b.example")).begin();
        runOfA = TestEvents.smallBuild(TestRun.certified(data, logOfA), 2);
        runOfB = TestEvents.smallBuild(TestRun.certified(data, logOfB, id(9)), 2);
        for (TestRun each : List.of(runOfA, runOfB)) {
            each.table();
            each.logCheckpoints(0, each.batches.size());
        }
        logOfA.publish();
        logOfB.publish();
    }

    private static RunId id(int seed) {
        return RunId.create(Instant.ofEpochSecond(0, TestRun.START_NS), new Random(seed));
    }

    private List<NoteVerifier> keys() {
        return List.of(
                logOfA.key.verifier(), logOfB.key.verifier(), logOfA.ingest.verifier(), logOfB.ingest.verifier());
    }

    private Verification verify(TestRun run, List<NoteVerifier> keys) throws Exception {
        return RunVerifier.verify(Recordings.unchecked(data), run.run, keys);
    }

    private static void assertTampered(Verification verified, String why) {
        assertEquals(Integrity.TAMPERED, verified.integrity(), () -> String.valueOf(verified.findings()));
        assertTrue(String.valueOf(verified.findings()).contains(why), () -> String.valueOf(verified.findings()));
    }

    @Test
    void eachRunIsVerifiedWithTheLogOfItsHost() throws Exception {
        for (TestRun each : List.of(runOfA, runOfB)) {
            Verification verified = verify(each, keys());
            assertEquals(Integrity.VERIFIED, verified.integrity(), () -> String.valueOf(verified.findings()));
            assertTrue(verified.authorship().trusted());
        }
        Recordings recordings = trusting();
        assertEquals(data.resolve("logs/a"), recordings.logOf(runOfA.run));
        assertEquals(data.resolve("logs/host-b.example"), recordings.logOf(runOfB.run));
        assertEquals(data.resolve("log"), recordings.logOf(id(10)));
        assertEquals(Set.of(runOfA.run, runOfB.run), recordings.trust().begun().keySet());
    }

    private Recordings trusting() {
        return Recordings.unchecked(data).trusting(new SealTrust(new DataFolder(data), this::keys));
    }

    @Test
    void aLogWhoseKeyIsNotTrustedCertifiesNothing() throws Exception {
        List<NoteVerifier> withoutA = keys().subList(1, 4);
        assertTampered(
                verify(runOfA, withoutA), "logs/a is not accepted: the log of runs: none of its keys is trusted");
        assertEquals(Integrity.VERIFIED, verify(runOfB, withoutA).integrity());
    }

    /// Somebody who can write to the folder plants a log of their own that contains a run of another host.
    @Test
    void aPlantedLogChangesNothing() throws Exception {
        for (String name : List.of("0", "zz")) {
            var planted = new TestLog(data.resolve("logs").resolve(name)).begin();
            planted.add(runOfA.certificate(planted.key));
            planted.publish();
        }
        Verification verified = verify(runOfA, keys());
        assertEquals(Integrity.VERIFIED, verified.integrity(), () -> String.valueOf(verified.findings()));
        assertEquals(data.resolve("logs/a"), trusting().logOf(runOfA.run));
    }

    @Test
    void aRunInTwoTrustedLogsIsTampered() throws Exception {
        logOfB.add(runOfA.certificate(logOfB.key));
        logOfB.publish();
        assertTampered(verify(runOfA, keys()), "two logs of runs contain the run, logs/a and logs/host-b.example");
    }

    @Test
    void aDamagedLogFailsItsOwnRunsAlone() throws Exception {
        Path entries = data.resolve("logs/a/tile/entries/000.p/" + logOfA.entries.size());
        byte[] octets = Files.readAllBytes(entries);
        octets[octets.length - 3] ^= 1;
        Files.write(entries, octets);
        assertTampered(verify(runOfA, keys()), "logs/a is not accepted");
        assertEquals(Integrity.VERIFIED, verify(runOfB, keys()).integrity());
    }

    /// Which keys seal data files is for the host that ingests to say.
    @Test
    void anotherHostsLogNamesNoKeysThatSealDataFiles() throws Exception {
        List<NoteVerifier> withoutIngest = keys().subList(0, 2);
        assertEquals(Integrity.TAMPERED, verify(runOfA, withoutIngest).integrity());
        assertEquals(1, trusting().committedFiles(runOfA.run).size());
        Recordings strict =
                Recordings.unchecked(data).trusting(new SealTrust(new DataFolder(data), () -> withoutIngest));
        assertEquals(List.of(), strict.committedFiles(runOfA.run));
    }

    @Test
    void aBundleAndAProofHaveTheLogOfTheRunsHost() throws Exception {
        Ed25519Key exporter = Ed25519Key.create("blackbox/log/group", new SecureRandom());
        Path bundle = Files.createDirectory(folder.resolve("bundle"));
        BundleWriter.write(trusting(), runOfB.run, exporter, bundle);
        assertTrue(Files.exists(bundle.resolve("logs/host-b.example/checkpoint")));
        assertFalse(Files.exists(bundle.resolve("logs/a")));
        List<NoteVerifier> given = List.of(exporter.verifier(), logOfB.key.verifier(), logOfB.ingest.verifier());
        Verification verified = BundleVerifier.verify(bundle, given, AnchorTrust.none());
        assertEquals(Integrity.VERIFIED, verified.integrity(), () -> String.valueOf(verified.findings()));
        assertNotNull(EventProver.open(trusting(), runOfB.run).prove(0).inLog());
    }
}
