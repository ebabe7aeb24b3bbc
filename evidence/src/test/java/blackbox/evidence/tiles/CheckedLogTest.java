package blackbox.evidence.tiles;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestLog;
import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.MlDsaKey;
import blackbox.evidence.store.TransparencyLogReader;
import blackbox.evidence.tiles.CheckedLog.Absent;
import blackbox.evidence.tiles.CheckedLog.Broken;
import blackbox.evidence.tiles.CheckedLog.Holds;
import blackbox.evidence.tiles.CheckedLog.Logged;
import blackbox.evidence.tiles.CheckedLog.Opened;
import blackbox.evidence.trust.KeyStatement;
import blackbox.evidence.trust.KeyStatement.Action;
import blackbox.evidence.trust.KeyStatement.Role;
import blackbox.evidence.trust.ReplayNote;
import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.evidence.trust.RunKeyCertificate;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckedLogTest {

    private static final Instant BEGUN = Instant.parse("2026-11-22T02:00:00Z");
    private static final RunId RUN = new RunId("01kaj3v4e0" + "0".repeat(16));
    private static final RunId OTHER = new RunId("01kaj3v4e0" + "1".repeat(16));

    @TempDir
    Path folder;

    private TestLog log;

    @BeforeEach
    void begin() {
        log = new TestLog(folder);
        state(Action.BEGIN, log.key, BEGUN, null, List.of(log.key));
    }

    private void state(Action action, Ed25519Key key, Instant at, @Nullable Instant until, List<NoteSigner> by) {
        var statement = new KeyStatement(action, TestLog.ORIGIN, key.verifier(), Role.LOG, at, until);
        log.add(SignedNote.sign(statement.text(), by));
    }

    private void open(RunId run, Instant at, NoteSigner by) {
        Ed25519Key first = Ed25519Key.create(run.origin(), new SecureRandom());
        log.add(SignedNote.sign(new RunKeyCertificate(run, first.verifier(), at).text(), by));
    }

    private void checkpoint(RunId run, long size) {
        Ed25519Key epoch = Ed25519Key.create(run.origin(), new SecureRandom());
        log.add(SignedNote.sign(new Checkpoint(run.origin(), size, Hash.sha256(new byte[(int) size])).text(), epoch));
    }

    private CheckedLog.Outcome read() throws IOException {
        return CheckedLog.read(new TransparencyLogReader(log.folder), List.of(log.key.verifier()), RUN);
    }

    /// Another log, which has begun.
    private void beginAnew(String name) {
        log = new TestLog(folder.resolve(name));
        state(Action.BEGIN, log.key, BEGUN, null, List.of(log.key));
    }

    private CheckedLog holds() throws IOException {
        return assertInstanceOf(Holds.class, read(), () -> "the log should hold")
                .log();
    }

    private void broken(String why) throws IOException {
        var broken = assertInstanceOf(Broken.class, read());
        assertTrue(broken.why().contains(why), broken::why);
    }

    @Test
    void givesWhatItHoldsAboutARun() throws Exception {
        open(RUN, BEGUN.plusSeconds(1), log.key);
        open(OTHER, BEGUN.plusSeconds(2), log.key);
        checkpoint(OTHER, 4);
        checkpoint(RUN, 7);
        log.publish();
        CheckedLog holds = holds();
        assertEquals(2, holds.leaves().size());
        assertEquals(1, assertInstanceOf(Opened.class, holds.leaves().get(0)).index());
        Logged logged = assertInstanceOf(Logged.class, holds.leaves().get(1));
        assertEquals(4, logged.index());
        assertEquals(7, logged.checkpoint().size());
        Hash leaf = Hash.sha256(prefixed(log.entries.get(4)));
        assertEquals(holds.checkpoint().root(), holds.inclusion(4).root(leaf));
        assertTrue(
                holds.consistency(3).holds(holds.rootAt(3), holds.checkpoint().root()));
    }

    private static byte[] prefixed(byte[] leaf) {
        var octets = new byte[leaf.length + 1];
        System.arraycopy(leaf, 0, octets, 1, leaf.length);
        return octets;
    }

    @Test
    void noLogIsNoBrokenLog() throws Exception {
        assertInstanceOf(Absent.class, read());
        log.publish();
        Files.delete(folder.resolve("checkpoint"));
        broken("no checkpoint");
    }

    @Test
    void aFlipOfAnyByteOfAnyFileIsFound() throws Exception {
        MlDsaKey companion = MlDsaKey.create44(TestLog.ORIGIN, new SecureRandom());
        log.signers = List.of(log.key, companion);
        for (int size = 4; log.entries.size() < 300; size++) {
            checkpoint(OTHER, size);
            if (size % 100 == 0) {
                log.publish();
            }
        }
        log.publish();
        var trusted = List.of(log.key.verifier(), companion.verifier());
        int flips = 0;
        for (Path file : files()) {
            byte[] octets = Files.readAllBytes(file);
            int step = Math.max(1, octets.length / 60);
            for (int i = 0; i < octets.length; i += step) {
                octets[i] ^= (byte) (1 << i % 8);
                Files.write(file, octets);
                String where = file + " octet " + i;
                assertInstanceOf(Broken.class, CheckedLog.read(new TransparencyLogReader(folder), trusted, RUN), where);
                octets[i] ^= (byte) (1 << i % 8);
                flips++;
            }
            Files.write(file, octets);
        }
        assertTrue(flips > 300, flips + " flips");
        assertInstanceOf(Holds.class, CheckedLog.read(new TransparencyLogReader(folder), trusted, RUN));
    }

    private List<Path> files() throws IOException {
        try (var files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }

    @Test
    void whatAKilledWriterLeftIsPassedOver() throws Exception {
        checkpoint(RUN, 7);
        Path checkpoint = log.publish();
        byte[] signed = Files.readAllBytes(checkpoint);
        checkpoint(RUN, 9);
        log.publish();
        Files.write(checkpoint, signed);
        assertEquals(1, holds().leaves().size());
    }

    @Test
    void aMissingTileIsFound() throws Exception {
        log.publish();
        Files.delete(folder.resolve("tile/0/000.p/1"));
        broken("tile/0/000.p/1 is missing");
    }

    @Test
    void keysFollowTheLogsOwnStatements() throws Exception {
        Ed25519Key next = Ed25519Key.create(TestLog.ORIGIN, new SecureRandom());
        state(Action.ROTATE, next, BEGUN.plusSeconds(10), null, List.of(log.key, next));
        open(RUN, BEGUN.plusSeconds(11), next);
        log.publish();
        broken("not signed by the key that signs it");
        log.signers = List.of(next);
        log.publish();
        assertEquals(1, holds().leaves().size());
        open(RUN, BEGUN.plusSeconds(12), log.key);
        log.publish();
        broken("valid at that point of the log");
    }

    @Test
    void anExpiredKeySignsNoCertificate() throws Exception {
        log = new TestLog(folder.resolve("expiring"));
        state(Action.BEGIN, log.key, BEGUN, BEGUN.plusSeconds(100), List.of(log.key));
        open(RUN, BEGUN.plusSeconds(100), log.key);
        log.publish();
        var outcome = CheckedLog.read(new TransparencyLogReader(log.folder), List.of(log.key.verifier()), RUN);
        assertTrue(assertInstanceOf(Broken.class, outcome).why().contains("valid at that point of the log"));
    }

    @Test
    void aLogOfStrangersIsNotBelieved() throws Exception {
        log.publish();
        Ed25519Key mine = Ed25519Key.create(TestLog.ORIGIN, new SecureRandom());
        var outcome = CheckedLog.read(new TransparencyLogReader(folder), List.of(mine.verifier()), RUN);
        assertTrue(assertInstanceOf(Broken.class, outcome).why().contains("none of its keys is trusted"));
    }

    @Test
    void aLogMustBeginWithItsKey() throws Exception {
        log = new TestLog(folder.resolve("headless"));
        checkpoint(RUN, 7);
        log.publish();
        var outcome = CheckedLog.read(new TransparencyLogReader(log.folder), List.of(log.key.verifier()), RUN);
        assertTrue(assertInstanceOf(Broken.class, outcome).why().contains("does not begin with"));
    }

    @Test
    void aKeptCheckpointShowsARollbackAndAnotherHistory() throws Exception {
        checkpoint(RUN, 7);
        log.publish();
        SignedNote early = holds().note();
        checkpoint(RUN, 9);
        log.publish();
        SignedNote late = holds().note();
        assertNull(holds().departsFrom(early));
        assertNull(holds().departsFrom(late));

        var second = new TestLog(folder.resolve("second"));
        SignedNote foreign =
                SignedNote.parse(SignedNote.sign(second.checkpoint().text(), second.key));
        assertNotNull(foreign);
        assertTrue(String.valueOf(holds().departsFrom(foreign)).contains("not signed by a key of this log"));

        log.entries.removeLast();
        log.publish();
        assertTrue(String.valueOf(holds().departsFrom(late)).contains("rolled back"));
        checkpoint(RUN, 10);
        checkpoint(RUN, 11);
        for (Path file : files()) {
            Files.delete(file);
        }
        var forked = new TestLog(folder);
        forked.entries.addAll(log.entries);
        forked.signers = List.of(log.key);
        forked.publish();
        assertTrue(String.valueOf(holds().departsFrom(late)).contains("history was changed"));
    }

    @Test
    void garbageIsBrokenAndNotAFailure() throws Exception {
        log.add("no note");
        log.publish();
        broken("is not a signed note");
        Files.write(folder.resolve("checkpoint"), "no checkpoint".getBytes(StandardCharsets.UTF_8));
        broken("is not a checkpoint");
    }

    private void replay(RunId run, Outcome outcome, Instant at, NoteSigner by) {
        log.add(SignedNote.sign(
                new ReplayNote(run, ReplayMethod.RERUN, outcome, Hash.sha256(new byte[1]), at).text(), by));
    }

    @Test
    void verdictsOnReplaysAreGivenAndAreNothingThatTheRunIsMadeOf() throws Exception {
        replay(OTHER, Outcome.IDENTICAL, BEGUN, log.key);
        replay(RUN, Outcome.DIVERGED, BEGUN.plusSeconds(3), log.key);
        replay(RUN, Outcome.EQUIVALENT, BEGUN.plusSeconds(4), log.key);
        log.publish();
        assertEquals(List.of(), holds().leaves());
        assertEquals(
                List.of(Outcome.DIVERGED, Outcome.EQUIVALENT),
                holds().replays().stream().map(each -> each.verdict().outcome()).toList());
        assertEquals(2, holds().replays().getFirst().index());
    }

    @Test
    void aVerdictThatAStrangerSignedBreaksTheLog() throws Exception {
        Ed25519Key stranger = Ed25519Key.create(TestLog.ORIGIN, new SecureRandom());
        replay(RUN, Outcome.IDENTICAL, BEGUN, stranger);
        log.publish();
        broken("leaf 1, the verdict on a replay of the run, is not signed");
    }

    @Test
    void aVerdictByAKeyThatGaveWayOrIsNotValidYetBreaksTheLog() throws Exception {
        Ed25519Key next = Ed25519Key.create(TestLog.ORIGIN, new SecureRandom());
        replay(RUN, Outcome.IDENTICAL, BEGUN.minusNanos(1), log.key);
        log.publish();
        broken("valid at that point of the log");
        beginAnew("early");
        state(Action.ROTATE, next, BEGUN.plusSeconds(10), null, List.of(log.key, next));
        log.signers = List.of(next);
        replay(RUN, Outcome.IDENTICAL, BEGUN.plusSeconds(9), log.key);
        log.publish();
        broken("valid at that point of the log");
        beginAnew("late");
        state(Action.ROTATE, next, BEGUN.plusSeconds(10), null, List.of(log.key, next));
        log.signers = List.of(next);
        replay(RUN, Outcome.IDENTICAL, BEGUN.plusSeconds(11), next);
        log.publish();
        assertEquals(1, holds().replays().size());
    }

    @Test
    void aVerdictOfAnotherVersionAndANoteOfNoKnownKindBreakTheLog() throws Exception {
        String known =
                new ReplayNote(OTHER, ReplayMethod.EXACT, Outcome.IDENTICAL, Hash.sha256(new byte[1]), BEGUN).text();
        log.add(SignedNote.sign(known.replace("/v1", "/v2"), log.key));
        log.publish();
        broken("leaf 1 is not a verdict on a replay of a known version");
        beginAnew("praised");
        log.add(SignedNote.sign("blackbox/praise/v1\nwell done\n", log.key));
        log.publish();
        broken("leaf 1 is a note of an unknown kind");
    }
}
