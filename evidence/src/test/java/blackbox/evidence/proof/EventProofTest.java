package blackbox.evidence.proof;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.EvidenceException;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.sign.CosignatureKey;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.evidence.verify.Verification.Time;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventProofTest {

    @TempDir
    Path folder;

    @Test
    void everyEventUnderTheLogIsProven() throws Exception {
        var proven = new ProvenRun(folder);
        EventProver prover = proven.prover();
        long second = proven.run.batches.get(1).endIndex();
        for (long index = 0; index < proven.size(); index++) {
            EventProof proof = prover.prove(index);
            ProofVerdict verdict = proven.verify(proof);
            assertTrue(verdict.holds(), verdict::toString);
            assertTrue(verdict.whole());
            assertEquals(Completeness.UNKNOWN, verdict.verification().completeness());
            assertEquals(Time.HOST_CLOCK, verdict.verification().time());
            assertEquals(
                    List.of(proven.log.key.verifier().encoded()),
                    verdict.verification().authorship().keys());
            assertNotNull(verdict.run());
            assertEquals(index < second ? second : proven.size(), verdict.run().size());
            assertNotNull(verdict.log());
            assertEquals(6, verdict.log().size());
            assertNotNull(verdict.kind());
            assertTrue(verdict.atNs() >= TestRun.START_NS);
        }
        assertThrows(EvidenceException.class, () -> prover.prove(proven.size()));
        assertThrows(EvidenceException.class, () -> prover.prove(-1));
    }

    @Test
    void aProofIsReadAsItIsWritten() throws Exception {
        EventProof proof = new ProvenRun(folder).prove(5);
        byte[] octets = ProofJson.encode(proof);
        assertTrue(ProofJson.looksLikeOne(octets));
        assertArrayEquals(octets, ProofJson.encode(ProofJson.parse(octets)));
    }

    /// A proof that version 1 made, with the key of its log.
    @Test
    void golden() throws Exception {
        byte[] octets = resource("event.json");
        var keys = List.of(NoteVerifiers.parse(new String(resource("log.pub"), StandardCharsets.UTF_8)));
        ProofVerdict verdict = ProofVerifier.verify(octets, ProofTrust.of(keys));
        assertTrue(verdict.holds(), verdict::toString);
        assertEquals("process.exec", verdict.kind());
        assertArrayEquals(octets, ProofJson.encode(ProofJson.parse(octets)));
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = EventProofTest.class.getResourceAsStream("/proof/v1/" + name)) {
            assertNotNull(in);
            return in.readAllBytes();
        }
    }

    /// A recording from before there were epoch keys and a log of runs.
    @Test
    void aRunThatATrustedKeySignsNeedsNoLog() throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder), 2);
        run.table();
        ProofTrust trust = ProofTrust.of(List.of(run.key.verifier()));
        EventProver prover = EventProver.open(Recordings.unchecked(folder), run.run);
        for (long index = 0; index < run.batches.getLast().endIndex(); index++) {
            EventProof proof = prover.prove(index);
            assertNull(proof.signer());
            ProofVerdict verdict = ProofVerifier.verify(ProofJson.encode(proof), trust);
            assertTrue(verdict.holds(), verdict::toString);
            assertTrue(verdict.limits().getFirst().startsWith("no log of runs"), verdict::toString);
        }
    }

    @Test
    void anEventThatTheLogDoesNotCoverYetSaysSo() throws Exception {
        TestLog log = new TestLog(folder.resolve("log"));
        TestRun run = TestEvents.smallBuild(new TestRun(folder).certified(log.key), 2);
        run.table(0, 1, "PARQUET_VERSION v2");
        run.spool(1, 3);
        log.add(ProvenRun.begin(log.key));
        log.publish();
        for (long index : List.of(
                0L, 1L, run.batches.get(1).firstIndex(), run.batches.get(2).endIndex() - 1)) {
            EventProof proof =
                    EventProver.open(Recordings.unchecked(folder), run.run).prove(index);
            assertNull(proof.inLog());
            assertEquals(1, proof.limits().size());
            ProofVerdict verdict =
                    ProofVerifier.verify(ProofJson.encode(proof), ProofTrust.of(List.of(log.key.verifier())));
            assertEquals(Integrity.VERIFIED, verdict.verification().integrity());
            assertFalse(verdict.whole());
            assertFalse(verdict.verification().authorship().trusted());
            assertFalse(verdict.holds());
        }
    }

    @Test
    void aCheckpointThatEnoughWitnessesSawAnchorsTheEvent() throws Exception {
        var proven = new ProvenRun(folder);
        CosignatureKey witness = CosignatureKey.createEd25519("witness.example/w1", new SecureRandom());
        CosignatureKey other = CosignatureKey.createEd25519("witness.example/w2", new SecureRandom());
        TestAnchors.cosign(proven.log, witness, 1_795_300_000L);
        Path anchors = proven.log.folder.resolve("anchors");
        Files.writeString(anchors.resolve("5.note"), new ProvenRun(folder.resolve("other")).log.noteOf(5));
        proven.log.add("a leaf behind the anchor");
        proven.log.publish();
        EventProof proof = proven.prove(3);
        assertEquals(List.of(), proof.limits());
        ProofVerdict seen = ProofVerifier.verify(ProofJson.encode(proof), trust(proven, witness));
        assertTrue(seen.holds(), seen::toString);
        assertEquals(Time.ANCHORED, seen.verification().time());
        assertEquals(List.of(new TrustPolicy.Cosigned("w", 1_795_300_000L)), seen.cosigned());
        assertNotNull(seen.log());
        assertEquals(6, seen.log().size());
        ProofVerdict unseen = ProofVerifier.verify(ProofJson.encode(proof), trust(proven, other));
        assertEquals(Time.HOST_CLOCK, unseen.verification().time());
        assertFalse(unseen.holds());
    }

    private static ProofTrust trust(ProvenRun proven, CosignatureKey witness) {
        String policy = "log " + proven.log.key.verifier().encoded() + "\nwitness w "
                + witness.verifier().encoded() + "\nquorum w\n";
        return ProofTrust.of(TrustPolicy.parse(policy, NoteVerifiers::parse), List.of(), TimeAuthorities.of(List.of()));
    }

    @Test
    void theCacheIsGrownUsedAndNotTrusted() throws Exception {
        Path data = folder.resolve("big");
        TestRun run = new TestRun(data, new RunId("01kaj3v4e0" + "1".repeat(16)), TestRun.newKey()).open("big");
        var events = new TestEvents(run);
        for (int batch = 0; batch < 6; batch++) {
            for (int i = 0; i < 60; i++) {
                events.compile(1_000 + 100 * batch + i, "/workspace/" + batch + "/" + i + ".o");
            }
            run.seal();
        }
        run.table();
        long size = run.batches.getLast().endIndex();
        assertTrue(size > 1_024, () -> size + " events");
        var recordings = Recordings.unchecked(data);
        Path cache = recordings.treeCache(run.run);
        assertHolds(run, recordings, 300);
        Path tile = cache.resolve("tile/1/000.p/" + size / 256);
        byte[] good = Files.readAllBytes(tile);
        byte[] bad = good.clone();
        bad[40] ^= 1;
        Files.write(tile, bad);
        assertHolds(run, recordings, 900);
        assertArrayEquals(good, Files.readAllBytes(tile));
        Files.delete(tile);
        assertHolds(run, recordings, size - 1);
        Files.write(cache.resolve("batch-ends"), new byte[] {0, 0, 0, 0, 0, 0, 9, 9});
        assertHolds(run, recordings, 5);
        events.compile(5_000, "/workspace/last.o");
        run.close(0);
        run.spool(6, 7);
        assertHolds(run, recordings, run.batches.getLast().endIndex() - 1);
        assertHolds(run, recordings, 17);
        try (Stream<Path> files = Files.walk(cache)) {
            assertTrue(files.noneMatch(file -> file.getFileName().toString().startsWith(".")));
        }
    }

    private static void assertHolds(TestRun run, Recordings recordings, long index) throws Exception {
        EventProof proof = EventProver.open(recordings, run.run).prove(index);
        ProofVerdict verdict =
                ProofVerifier.verify(ProofJson.encode(proof), ProofTrust.of(List.of(run.key.verifier())));
        assertTrue(verdict.holds(), verdict::toString);
    }

    /// The log holds the checkpoint of one history, the data folder another with as many events.
    @Test
    void aChangedRecordingProvesNothing() throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder), 2);
        run.table();
        TestRun before = new TestRun(folder.resolve("before"), run.run, run.key);
        before.tick();
        TestEvents.smallBuild(before, 2);
        assertEquals(run.batches.get(1).endIndex(), before.batches.get(1).endIndex());
        var log = new TestLog(folder.resolve("log"));
        log.add(before.batches.get(1).checkpoint());
        log.publish();
        EventProver prover = EventProver.open(Recordings.unchecked(folder), run.run);
        assertThrows(UnprovableException.class, () -> prover.prove(1));
    }
}
