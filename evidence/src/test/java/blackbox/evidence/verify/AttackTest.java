package blackbox.evidence.verify;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.trust.KeyStatement;
import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.schemas.RunId;
import blackbox.schemas.batch.BatchHeader;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What someone may do who has the store, and each time the verdict. The run has epoch keys and stands in a log of
/// runs; the auditor trusts the log's key and nothing else.
final class AttackTest {

    private static final Duration THIRTY_DAYS = Duration.ofDays(30);

    private static final long SECOND = 1_000_000_000L;

    @TempDir
    Path folder;

    private TestLog log;
    private TestRun run;

    @BeforeEach
    void record() throws Exception {
        log = new TestLog(folder.resolve("log")).begin();
        run = TestEvents.smallBuild(TestRun.certified(folder, log), 3);
        run.logCheckpoints(1, 4);
        log.publish();
    }

    private Verification verify() throws IOException {
        return verify(log.key.verifier(), null);
    }

    private Verification verify(NoteVerifier trusted, @Nullable SignedNote kept) throws IOException {
        return RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(trusted), kept);
    }

    private void assertTampered(String why) throws IOException {
        Verification verification = verify();
        assertEquals(Integrity.TAMPERED, verification.integrity(), verification.findings()::toString);
        assertTrue(
                verification.findings().stream()
                        .anyMatch(finding -> finding.what().contains(why)),
                verification.findings()::toString);
    }

    /// Whoever trusts the key that the log has now believes what its predecessors signed: each vouched for the next.
    @Test
    void theKeyThatCameLaterVouchesForRunsFromBefore() throws Exception {
        run.table();
        Ed25519Key next = Ed25519Key.create(TestLog.ORIGIN, new SecureRandom());
        var rotate = new KeyStatement(
                KeyStatement.Action.ROTATE,
                TestLog.ORIGIN,
                next.verifier(),
                KeyStatement.Role.LOG,
                Instant.ofEpochSecond(0, TestRun.START_NS).plusSeconds(3_600),
                null);
        log.add(SignedNote.sign(rotate.text(), List.of(log.key, next)));
        log.signers = List.of(next);
        log.publish();
        for (NoteVerifier trusted : List.of(next.verifier(), log.key.verifier())) {
            Verification verification = verify(trusted, null);
            assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
        }
        Ed25519Key stranger = Ed25519Key.create(TestLog.ORIGIN, new SecureRandom());
        assertEquals(Integrity.TAMPERED, verify(stranger.verifier(), null).integrity());
    }

    /// The log's leaves are in the order of their making: a run certified thirty days before the leaf that precedes it
    /// was recorded by a clock that had been set back.
    @Test
    void aClockThatWasSetBackIsSeenInTheLog() throws Exception {
        run.table();
        assertEquals(List.of(), verify().findings());
        Path other = folder.resolve("behind");
        TestLog late = new TestLog(other.resolve("log")).begin();
        late.add(thirtyDaysLater(late));
        TestRun behind = TestEvents.smallBuild(TestRun.certified(other, late), 1);
        behind.logCheckpoints(1, 2);
        assertSetBack(other, late, behind);
    }

    /// Between the certificate and the first event, with an id of the time that was set.
    @Test
    void aClockThatWasSetBackAfterTheCertificateIsSeenInTheEvents() throws Exception {
        Path other = folder.resolve("behind");
        TestLog certifying = new TestLog(other.resolve("log")).begin();
        long backNs = TestRun.START_NS - THIRTY_DAYS.toNanos();
        RunId id = RunId.create(Instant.ofEpochSecond(0, backNs), new SecureRandom());
        TestRun behind = TestRun.certified(other, certifying, id);
        behind.at(backNs);
        TestEvents.smallBuild(behind, 1);
        assertSetBack(other, certifying, behind);
    }

    /// In the middle of the run: its second checkpoint follows a leaf that is thirty days newer.
    @Test
    void aClockThatWasSetBackDuringTheRunIsSeenInTheLog() throws Exception {
        Path other = folder.resolve("behind");
        TestLog between = new TestLog(other.resolve("log")).begin();
        TestRun behind = TestEvents.smallBuild(TestRun.certified(other, between), 1);
        behind.logCheckpoints(0, 1);
        between.add(thirtyDaysLater(between));
        behind.logCheckpoints(1, 2);
        assertSetBack(other, between, behind);
    }

    private static String thirtyDaysLater(TestLog in) {
        Ed25519Key newest = Ed25519Key.create("blackbox/ingest", new SecureRandom());
        var later = new KeyStatement(
                KeyStatement.Action.CERTIFY,
                TestLog.ORIGIN,
                newest.verifier(),
                KeyStatement.Role.INGEST,
                Instant.ofEpochSecond(0, TestRun.START_NS).plus(THIRTY_DAYS),
                null);
        return SignedNote.sign(later.text(), in.key);
    }

    private static void assertSetBack(Path data, TestLog log, TestRun behind) throws Exception {
        log.publish();
        behind.table();
        Verification verification =
                RunVerifier.verify(Recordings.unchecked(data), behind.run, List.of(log.key.verifier()), null);
        assertEquals(Integrity.VERIFIED, verification.integrity(), verification::toString);
        assertTrue(
                verification.findings().toString().contains("the host's clock had been set back"),
                verification::toString);
    }

    private void assertVerdict(Integrity integrity, Completeness completeness) throws IOException {
        Verification verification = verify();
        assertEquals(integrity, verification.integrity(), verification.findings()::toString);
        assertEquals(completeness, verification.completeness(), verification.findings()::toString);
        assertEquals(
                integrity == Integrity.VERIFIED && completeness == Completeness.LOSS_DECLARED, verification.holds());
    }

    /// Puts another log of runs in the place of the one that is there.
    private TestLog freshLog(Path at) throws IOException {
        if (Files.exists(at)) {
            try (var files = Files.walk(at)) {
                for (Path file : files.sorted(Collections.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
        return new TestLog(at).begin();
    }

    @Test
    void theRunItselfHolds() throws Exception {
        run.table(0, 2, "PARQUET_VERSION v2");
        run.spool(2, 4);
        Verification verification = verify();
        assertEquals(List.of(), verification.findings());
        assertTrue(verification.holds());
        assertEquals(run.batches.getLast().endIndex(), verification.events());
        assertTrue(verification.authorship().trusted());
        String[] key = log.key.verifier().encoded().split("\\+", 3);
        assertEquals(List.of(key[0] + "+" + key[1]), verification.authorship().keys());
    }

    @Test
    void aTailThatIsCutOffAtAnyBatchIsMissed() throws Exception {
        for (int kept = 0; kept < run.batches.size(); kept++) {
            run.spool(0, kept);
            assertVerdict(Integrity.VERIFIED, Completeness.TRUNCATED);
        }
        Files.delete(run.spoolFolder().resolve("%012d.seg".formatted(0)));
        assertVerdict(Integrity.VERIFIED, Completeness.TRUNCATED);
        assertTrue(verify().findings().getLast().what().contains("but the log of runs contains it"));
    }

    /// Also where the log of runs was cut with it: a run that was not closed is not whole.
    @Test
    void aTailThatIsCutOffTogetherWithTheLogIsMissed() throws Exception {
        for (int kept = 1; kept < run.batches.size(); kept++) {
            TestLog cut = freshLog(folder.resolve("log"));
            log = cut;
            run = TestRun.certified(folder, cut, run.run);
            TestEvents.smallBuild(run, 3);
            run.logCheckpoints(0, kept);
            cut.publish();
            run.spool(0, kept);
            assertVerdict(Integrity.VERIFIED, Completeness.TRUNCATED);
        }
    }

    @Test
    void aRollbackOfTheLogIsFoundByWhoKeptACheckpoint() throws Exception {
        run.spool(0, 4);
        SignedNote kept = SignedNote.parse(Files.readString(folder.resolve("log/checkpoint")));
        assertNotNull(kept);
        assertTrue(verify(log.key.verifier(), kept).holds());
        List<byte[]> later = new ArrayList<>(log.entries.subList(5, 6));
        log.entries.subList(5, 6).clear();
        log.publish();
        assertEquals(Integrity.TAMPERED, verify(log.key.verifier(), kept).integrity());
        log.entries.addAll(later);
        assertTrue(verify(log.key.verifier(), kept).findings().stream()
                .anyMatch(finding -> finding.what().contains("rolled back")));
    }

    @Test
    void twoHistoriesOfTheLogAreFoundByWhoKeptACheckpoint() throws Exception {
        run.spool(0, 4);
        SignedNote kept = SignedNote.parse(Files.readString(folder.resolve("log/checkpoint")));
        assertNotNull(kept);
        byte[] replaced = log.entries.get(3);
        log.entries.set(3, log.entries.get(4));
        log.entries.set(4, replaced);
        log.add(run.batches.getFirst().checkpoint());
        freshFiles();
        assertTrue(verify().holds(), "another log of the same key, which holds in itself");
        assertEquals(Integrity.TAMPERED, verify(log.key.verifier(), kept).integrity());
    }

    private void freshFiles() throws IOException {
        TestLog again = freshLog(folder.resolve("log"));
        again.entries.clear();
        again.entries.addAll(log.entries);
        again.signers = log.signers;
        again.publish();
    }

    /// The recorder itself seals two histories before it destroys its keys.
    @Test
    void twoHistoriesOfOneRunAreFound() throws Exception {
        TestRun other = beginLike(run);
        other.add(new Event.VmLifecycle(EventHeader.host(other.tick()), "STOP", null));
        other.close(0);
        other.spool(0, 2);
        assertTampered("but the run closes here with");
        TestRun same = beginLike(run);
        new TestEvents(same).compile(110, "/workspace/another.o");
        same.seal();
        same.spool(0, 2);
        assertTampered("a root other than the one in the log of runs");
    }

    /// The same run up to its first batch, with keys at hand that a recorder would have destroyed.
    private TestRun beginLike(TestRun original) throws IOException {
        TestRun same = TestRun.certified(folder, freshElsewhere(), original.run);
        same.epochs.clear();
        same.epochs.addAll(original.epochs);
        same.open("build", original.certificate(log.key));
        same.add(new Event.TracerReady(EventHeader.host(same.tick()), "{\"attached\":[\"exec\"],\"failed\":[]}"));
        new TestEvents(same).compile(100, "/workspace/file0.o");
        assertArrayEquals(original.batches.getFirst().octets(), same.seal().octets());
        return same;
    }

    @Test
    void aBatchThatIsReplayedIsFound() throws Exception {
        run.batches.add(2, run.batches.get(1));
        run.spool(0, 5);
        assertEquals(Integrity.TAMPERED, verify().integrity());
    }

    @Test
    void batchesInAnotherOrderAreFound() throws Exception {
        Collections.swap(run.batches, 1, 2);
        run.spool(0, 4);
        assertFalse(verify().holds());
    }

    @Test
    void anotherRunsBatchIsFound() throws Exception {
        TestRun other =
                TestEvents.smallBuild(TestRun.certified(folder, log, new RunId("01kaj3v4e0zzzzzzzzzzzzzzzz")), 3);
        other.logCheckpoints(0, 4);
        log.publish();
        for (int at = 0; at < 4; at++) {
            SealedBatch own = run.batches.set(at, other.batches.get(at));
            run.spool(0, 4);
            assertTampered(at == 0 ? "not a certificate of this run" : "signed by its epoch's key");
            run.batches.set(at, own);
        }
        run.spool(0, 4);
        assertTrue(verify().holds());
    }

    @Test
    void anEntryThatIsBackDatedIsFound() throws Exception {
        TestRun late = certifiedOpen();
        late.add(new Event.VmLifecycle(EventHeader.host(TestRun.START_NS - 61 * SECOND), "STOP", null));
        late.close(0);
        late.spool(0, 2);
        assertTampered("back-dated");
    }

    @Test
    void anEntryOfTheHostFromAfterItsEpochIsFoundAndOneOfTheGuestToldOf() throws Exception {
        TestRun early = certifiedOpen();
        long future = TestRun.START_NS + 3_600 * SECOND;
        var header = new EventHeader(future, Source.GUEST, new GuestOrigin(0, 1), null, Marks.NONE);
        early.add(new Event.TracerHeartbeat(header, null));
        early.seal();
        early.spool(0, 2);
        assertVerdict(Integrity.VERIFIED, Completeness.TRUNCATED);
        assertTrue(verify().findings().getFirst().what().contains("guest's time"));
        early.add(new Event.VmLifecycle(EventHeader.host(future), "STOP", null));
        early.close(0);
        early.spool(0, 3);
        assertTampered("after its epoch ended");
    }

    @Test
    void heartbeatsThatGoBackAreFoundAndSilenceIsToldOf() throws Exception {
        TestRun odd = certifiedOpen();
        odd.at(TestRun.START_NS + 30 * SECOND);
        odd.seal();
        odd.spool(0, 2);
        assertTrue(verify().findings().getFirst().what().contains("no heartbeat for 29 s"));
        odd.at(TestRun.START_NS + 20 * SECOND);
        odd.close(0);
        odd.spool(0, 3);
        assertTampered("the heartbeat's time is earlier than");
    }

    /// The run, begun anew with its first batch sealed.
    private TestRun certifiedOpen() throws IOException {
        log = freshLog(folder.resolve("log"));
        run = TestRun.certified(folder, log, run.run).open("build");
        run.seal();
        log.publish();
        return run;
    }

    /// Whoever takes the recorder over in epoch 2 has its key and all later ones, and the long-term key: the epochs
    /// before stay as they were sealed.
    @Test
    void anEntryForgedAfterItsEpochsKeyIsGoneIsFound() throws Exception {
        List<Ed25519Key> loot = List.of(run.epochs.get(2), run.epochs.get(3), log.key, log.ingest);
        for (Ed25519Key stolen : loot) {
            TestRun forged = beginLike(run);
            forged.epochs.set(1, stolen);
            forged.add(new Event.VmLifecycle(EventHeader.host(forged.tick()), "RESET", null));
            forged.seal();
            forged.seal();
            forged.close(0);
            forged.spool(0, 4);
            Verification verification = verify();
            assertTampered("not signed by its epoch's key");
            assertEquals(run.batches.getFirst().endIndex(), verification.events());
            assertFalse(verification.authorship().trusted());
        }
    }

    private TestLog freshElsewhere() throws IOException {
        return freshLog(folder.resolve("elsewhere"));
    }

    @Test
    void anotherKeyInTheTrustedOnesPlaceIsFound() throws Exception {
        NoteVerifier trusted = log.key.verifier();
        log = freshLog(folder.resolve("log"));
        run = TestEvents.smallBuild(TestRun.certified(folder, log, run.run), 3);
        run.logCheckpoints(0, 4);
        log.publish();
        run.spool(0, 4);
        assertTrue(verify().holds(), "whole in itself");
        Verification verification = verify(trusted, null);
        assertEquals(Integrity.TAMPERED, verification.integrity());
        assertFalse(verification.authorship().trusted());
    }

    @Test
    void aRunWithoutItsCertificateDoesNotFallBackToATrustedKey() throws Exception {
        TestRun direct = TestEvents.smallBuild(new TestRun(folder, run.run, log.key), 3);
        direct.spool(0, 4);
        assertTampered("it has no certificate, but the log of runs contains the run");
        run = TestEvents.smallBuild(
                new TestRun(folder, RunId.create(Instant.ofEpochSecond(0, TestRun.START_NS), new Random(5)), log.key),
                3);
        run.spool(0, 4);
        assertTampered("there was a log of runs when it began");
        run = TestEvents.smallBuild(new TestRun(folder, new RunId("01kaj3v4e0zzzzzzzzzzzzzzzy"), log.key), 3);
        run.spool(0, 4);
        assertTrue(verify().holds(), "recorded before there was a log of runs");
    }

    @Test
    void withoutTheLogOfRunsNoCertificateIsBelieved() throws Exception {
        run.spool(0, 4);
        TestLog other = freshLog(folder.resolve("log"));
        assertTampered("there is no log of runs that holds");
        log = other;
        log.publish();
        assertTampered("the log of runs does not contain it");
        log = freshLog(folder.resolve("log"));
        log.entries.clear();
        log.add(run.certificate(log.key));
        log.publish();
        assertTampered("does not begin with the statement");
    }

    @Test
    void aCertificateByAnotherKeyThanTheLogsIsNotBelieved() throws Exception {
        log = freshLog(folder.resolve("log"));
        run = TestRun.certified(folder, log, run.run);
        run.open("build", run.certificate(Ed25519Key.create(TestLog.ORIGIN, new SecureRandom())));
        run.close(0);
        log.publish();
        run.spool(0, 1);
        assertTampered("not signed by a key that was valid");
    }

    /// journald accepted a file that was never sealed (systemd #15425).
    @Test
    void aFileThatWasNeverSealedFails() throws Exception {
        Path file = run.table();
        assertTrue(verify().holds());
        Files.delete(Path.of(file + ".seal"));
        assertTampered("it has no seal");
    }

    /// journald let entries be forged into an epoch that was sealed (CVE-2023-31439).
    @Test
    void anEntrySlippedIntoASealedEpochIsFound() throws Exception {
        TestRun forged = beginLike(run);
        forged.add(new Event.VmLifecycle(EventHeader.host(forged.tick()), "RESET", null));
        new TestEvents(forged).compile(110, "/workspace/file1.o");
        SealedBatch second = forged.seal();
        run.batches.set(1, sealedBy(second, run.batches.get(1).checkpoint()));
        run.spool(0, 4);
        assertTampered("but there are");
        run.batches.set(1, sealedBy(second, run.batches.get(2).checkpoint()));
        run.spool(0, 4);
        assertTampered("not signed by its epoch's key");
    }

    /// The batch with another checkpoint in place of its own.
    private static SealedBatch sealedBy(SealedBatch batch, String checkpoint) {
        var leaves = new ByteArrayOutputStream();
        LeafCursor cursor = batch.leaves();
        while (cursor.next()) {
            leaves.write(
                    cursor.array(),
                    cursor.offset() - LeafCursor.ENTRY_OVERHEAD,
                    cursor.length() + LeafCursor.ENTRY_OVERHEAD);
        }
        var header = new BatchHeader(
                batch.run(), batch.sequence(), batch.firstIndex(), batch.count(), batch.sealedAtNs(), batch.previous());
        return SealedBatch.encode(header, leaves.toByteArray(), leaves.size(), checkpoint);
    }

    @Test
    void aClosedRunThatMissesMoreThanItDeclaresSaysSo() throws Exception {
        certifiedOpen();
        run.add(new Event.TracerReady(EventHeader.host(run.tick()), "{\"cpuSeq\":[5,9]}"));
        for (long[] frame : new long[][] {{0, 6}, {0, 8}, {1, 12}, {0, 7}, {0, 8}}) {
            var origin = new GuestOrigin((int) frame[0], frame[1]);
            var header = new EventHeader(run.tick(), Source.GUEST, origin, null, Marks.NONE);
            run.add(new Event.TracerHeartbeat(header, null));
        }
        run.add(new Event.RecorderLoss(EventHeader.host(run.tick()), 1, "sequence", null));
        run.close(0);
        run.spool(0, 2);
        assertVerdict(Integrity.VERIFIED, Completeness.UNKNOWN);
        assertTrue(verify().findings().getFirst().what().contains("2 events missing, but only 1 are declared lost"));
    }
}
