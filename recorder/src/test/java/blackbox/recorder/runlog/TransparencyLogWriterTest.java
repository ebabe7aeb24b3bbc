package blackbox.recorder.runlog;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.EntryBundle;
import blackbox.evidence.log.MerkleFrontier;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.log.TileHashes;
import blackbox.evidence.log.TilePath;
import blackbox.evidence.log.TreeHasher;
import blackbox.evidence.log.TreeProver;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.trust.KeyHistory;
import blackbox.evidence.trust.KeyStatement;
import blackbox.evidence.trust.KeyStatement.Action;
import blackbox.evidence.trust.KeyStatement.Role;
import blackbox.evidence.trust.ReplayNote;
import blackbox.evidence.trust.RunKeyCertificate;
import blackbox.files.ProcessLock;
import blackbox.recorder.RecorderException;
import blackbox.recorder.runlog.MemoryFiles.Failure;
import blackbox.recorder.runlog.TransparencyLogWriter.Appended;
import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TransparencyLogWriterTest {

    private static final Instant NOW = Instant.parse("2026-11-22T03:00:00Z");
    private static final RunId RUN = RunId.create(NOW, new Random(3));

    @TempDir
    Path folder;

    private final Ed25519Key key = Ed25519Key.create("blackbox/log/test", new SecureRandom());
    private final Ed25519Key epoch = Ed25519Key.create(RUN.origin(), new SecureRandom());
    private final Map<Long, String> checkpoints = new ConcurrentHashMap<>();
    private final DiskFiles disk = new DiskFiles();

    private TransparencyLogWriter log(LogFiles files) {
        return new TransparencyLogWriter(folder, signer(key), List.of(), InstantSource.fixed(NOW), files);
    }

    private static TransparencyLogWriter.Signer signer(Ed25519Key key) {
        return new TransparencyLogWriter.Signer(List.of(key), NOW, null);
    }

    /// A run's checkpoint that no other is like; signed once, because it is appended thousands of times.
    private String checkpoint(long size) {
        return checkpoints.computeIfAbsent(size, _ -> {
            var checkpoint = new Checkpoint(
                    RUN.origin(), size, Hash.sha256(Long.toString(size).getBytes(UTF_8)));
            return SignedNote.sign(checkpoint.text(), epoch);
        });
    }

    /// Every leaf of the log, which holds: signature, root, tiles and entries agree.
    private List<String> leaves(LogFiles files) throws IOException {
        byte[] octets = files.read(folder.resolve(TilePath.CHECKPOINT));
        if (octets == null) {
            return List.of();
        }
        SignedNote note = SignedNote.parse(new String(octets, UTF_8));
        assertNotNull(note);
        assertNotNull(note.signedBy(List.of(key.verifier())));
        Checkpoint checkpoint = Checkpoint.parse(note.text());
        assertNotNull(checkpoint);
        assertEquals("blackbox/log/test", checkpoint.origin());
        var hashes = new TileHashes(tile -> files.read(folder.resolve(tile.path())), checkpoint.size());
        assertEquals(checkpoint.root(), new TreeProver(hashes).root(checkpoint.size()));
        var tree = new MerkleFrontier();
        var leaves = new ArrayList<String>();
        for (long bundle = 0; bundle * TilePath.FULL < checkpoint.size(); bundle++) {
            TilePath path = TilePath.of(TilePath.ENTRIES, bundle, checkpoint.size());
            assertNotNull(path);
            byte[] bundleOctets = files.read(folder.resolve(path.path()));
            assertNotNull(bundleOctets, path.path());
            EntryBundle entries = EntryBundle.parse(bundleOctets, path.width());
            assertNotNull(entries);
            for (byte[] entry : entries.entries()) {
                tree.append(new TreeHasher().leaf(entry));
                assertEquals(new TreeHasher().leaf(entry), hashes.at(0, leaves.size()));
                leaves.add(new String(entry, UTF_8));
            }
        }
        assertEquals(checkpoint.root(), tree.root());
        return leaves;
    }

    @Test
    void aLogBeginsWithItsKeyAndKeepsWhatIsAppended() throws Exception {
        TransparencyLogWriter log = log(disk);
        String certificate = log.certify(RUN, epoch.verifier());
        Appended appended = log.append(List.of(checkpoint(1), checkpoint(2)));
        assertEquals(2, appended.firstIndex());
        assertEquals(4, appended.size());
        List<String> leaves = leaves(disk);
        assertEquals(List.of(certificate, checkpoint(1), checkpoint(2)), leaves.subList(1, 4));
        assertEquals(Files.readString(folder.resolve("checkpoint")), appended.checkpoint());
        SignedNote begin = SignedNote.parse(leaves.getFirst());
        assertNotNull(begin);
        var history = new KeyHistory(List.of(key.verifier()));
        assertNull(history.add(0, begin));
        assertEquals(List.of(key.verifier()), history.believed(Role.LOG, 1, NOW));
        SignedNote note = SignedNote.parse(certificate);
        assertNotNull(note);
        assertNotNull(RunKeyCertificate.parse(note.text()));
    }

    @Test
    void itGrowsOverTilesAndDropsPartialOnesThatAreFull() throws Exception {
        TransparencyLogWriter log = log(disk);
        var expected = new ArrayList<String>();
        for (int i = 0; i < 70; i++) {
            var some = new ArrayList<String>();
            for (int n = 0; n <= i % 9; n++) {
                some.add(checkpoint(expected.size() + some.size()));
            }
            expected.addAll(some);
            Appended appended = log.append(some);
            assertEquals(expected.size() + 1, appended.size());
        }
        var many = new ArrayList<String>();
        for (int i = 0; i < 600; i++) {
            many.add(checkpoint(i));
        }
        log.append(many);
        expected.addAll(many);
        List<String> leaves = leaves(disk);
        assertEquals(expected, leaves.subList(1, leaves.size()));
        assertTrue(Files.exists(folder.resolve("tile/0/000")));
        assertFalse(Files.exists(folder.resolve("tile/0/000.p")));
        assertFalse(Files.exists(folder.resolve("tile/entries/000.p")));
    }

    @Test
    void theIngestKeyIsCertifiedOnceAndCanBeRevoked() throws Exception {
        var ingest = Ed25519Key.create("blackbox/ingest", new SecureRandom()).verifier();
        TransparencyLogWriter log = log(disk);
        log.certifyIngest(ingest);
        log.certifyIngest(ingest);
        assertEquals(2, leaves(disk).size());
        log.revoke(ingest, Role.INGEST);
        KeyHistory history = history();
        assertEquals(List.of(ingest), history.believed(Role.INGEST, 2));
        assertEquals(List.of(), history.believed(Role.INGEST, 3));
    }

    private KeyHistory history() throws IOException {
        var history = new KeyHistory(List.of(key.verifier()));
        List<String> leaves = leaves(disk);
        for (int i = 0; i < leaves.size(); i++) {
            SignedNote note = SignedNote.parse(leaves.get(i));
            assertNotNull(note);
            assertNull(KeyStatement.isOne(note.text()) ? history.add(i, note) : null);
        }
        return history;
    }

    @Test
    void aRotationIsTheOldKeysLastLeaf() throws Exception {
        log(disk).certify(RUN, epoch.verifier());
        Ed25519Key next = Ed25519Key.create("blackbox/log/test", new SecureRandom());
        var statement = new KeyStatement(
                Action.ROTATE, "blackbox/log/test", next.verifier(), Role.LOG, NOW.plusSeconds(1), null);
        String rotate = SignedNote.sign(statement.text(), List.of(key, next));
        var later = new TransparencyLogWriter(folder, signer(next), InstantSource.fixed(NOW));
        assertThrows(RecorderException.class, () -> later.append(List.of(rotate)));
        later.after(List.of(key.verifier())).append(List.of(rotate));
        later.append(List.of(checkpoint(9)));
        assertThrows(RecorderException.class, () -> log(disk).append(List.of(checkpoint(10))));
    }

    @Test
    void anExpiredKeyCertifiesNothing() {
        var signer = new TransparencyLogWriter.Signer(List.of(key), NOW.minusSeconds(10), NOW);
        var log = new TransparencyLogWriter(folder, signer, InstantSource.fixed(NOW));
        RecorderException refused = assertThrows(RecorderException.class, () -> log.certify(RUN, epoch.verifier()));
        assertEquals(RecorderException.Code.KEY, refused.code());
    }

    /// The kill at every step: whatever was acknowledged is there, whole and in order, and the log goes on.
    @Test
    void nothingAcknowledgedIsEverMissing() throws Exception {
        int runs = 0;
        for (Failure failure : Failure.values()) {
            for (int before : new int[] {0, 1, 255}) {
                int steps = stepsAfter(before);
                for (int step = 0; step < steps; step++) {
                    for (long seed = 0; seed < 2; seed++) {
                        var files = new MemoryFiles(seed);
                        List<String> acknowledged = grow(files, before);
                        files.failAt(step, failure);
                        try {
                            acknowledged.addAll(append(files, List.of(checkpoint(1_000), checkpoint(1_001))));
                        } catch (RecorderException e) {
                            assertEquals(RecorderException.Code.RUN_LOG, e.code());
                        }
                        assertTrue(files.isDown());
                        files.restart();
                        checkWhole(files, acknowledged, failure + " at " + step + " after " + before);
                        append(files, List.of(checkpoint(2_000)));
                        assertEquals(checkpoint(2_000), leaves(files).getLast());
                        runs++;
                    }
                }
                assertTrue(steps > 8, steps + " steps");
            }
        }
        assertTrue(runs > 150, runs + " kills");
    }

    private int stepsAfter(int before) throws RecorderException {
        var files = new MemoryFiles(0);
        grow(files, before);
        files.failAt(-1, Failure.FAILED);
        append(files, List.of(checkpoint(1_000), checkpoint(1_001)));
        return files.operations();
    }

    private void checkWhole(MemoryFiles files, List<String> acknowledged, String what) throws IOException {
        List<String> leaves = leaves(files);
        assertTrue(leaves.size() >= acknowledged.size(), what);
        int from = leaves.isEmpty() ? 0 : 1;
        assertEquals(acknowledged, leaves.subList(from, from + acknowledged.size()), what);
        assertTrue(leaves.size() - from - acknowledged.size() <= 2, what);
    }

    private List<String> grow(LogFiles files, int leaves) throws RecorderException {
        var notes = new ArrayList<String>();
        for (int i = 0; i < leaves; i++) {
            notes.add(checkpoint(i));
        }
        return notes.isEmpty() ? notes : append(files, notes);
    }

    private List<String> append(LogFiles files, List<String> notes) throws RecorderException {
        log(files).append(notes);
        return new ArrayList<>(notes);
    }

    @Test
    void whereTheDiskAndTheSignatureDisagreeNothingIsWritten() throws Exception {
        var files = new MemoryFiles(1);
        grow(files, 300);
        int refused = 0;
        for (Path name : files.names()) {
            byte[] octets = files.read(name);
            assertNotNull(octets);
            byte[] flipped = octets.clone();
            flipped[octets.length / 2] ^= 1;
            files.put(name, flipped);
            List<Path> names = files.names();
            // Full tiles below the edge are not read again: they are the verifier's business.
            boolean atEdge = !name.endsWith("tile/0/000") && !name.endsWith("tile/entries/000");
            if (atEdge) {
                assertThrows(RecorderException.class, () -> append(files, List.of(checkpoint(5))), name.toString());
                assertEquals(names, files.names());
                files.put(name, null);
                assertThrows(RecorderException.class, () -> append(files, List.of(checkpoint(5))), name.toString());
                refused++;
            }
            files.put(name, octets);
        }
        assertEquals(4, refused, "checkpoint, the edge's entries, and two levels of tiles");
        append(files, List.of(checkpoint(5)));
    }

    @Test
    void writersTakeTurns() throws Exception {
        try (var threads = Executors.newFixedThreadPool(4)) {
            var done = new ArrayList<Future<?>>();
            for (int writer = 0; writer < 4; writer++) {
                int number = writer;
                done.add(threads.submit(() -> {
                    TransparencyLogWriter log = log(disk);
                    for (int i = 0; i < 20; i++) {
                        log.append(List.of(checkpoint(number * 100L + i)));
                    }
                    return null;
                }));
            }
            for (var each : done) {
                each.get();
            }
        }
        assertEquals(81, leaves(disk).size());
        assertFalse(ProcessLock.isHeld(folder.resolve("lock")));
        assertArrayEquals(new String[0], folder.toFile().list((_, name) -> name.endsWith(".new")));
    }

    @Test
    void aRotationIsSignedByBothKeysAndTheNewOneSignsWhatFollows() throws Exception {
        log(disk).append(List.of(checkpoint(1)));
        Ed25519Key next = Ed25519Key.create("blackbox/log/test", new SecureRandom());
        TransparencyLogWriter after = new TransparencyLogWriter(folder, signer(next), InstantSource.fixed(NOW));
        after.rotate(List.of(key));
        after.rotate(List.of(key));
        after.append(List.of(checkpoint(2)));
        byte[] tile = Files.readAllBytes(folder.resolve("tile/entries/000.p/4"));
        EntryBundle bundle = EntryBundle.parse(tile, 4);
        assertNotNull(bundle);
        String rotated = new String(bundle.entries().get(2), UTF_8);
        assertTrue(rotated.startsWith("blackbox/key/v1\nrotate\n"), rotated);
        SignedNote note = SignedNote.parse(rotated);
        assertNotNull(note);
        for (Ed25519Key each : List.of(key, next)) {
            assertNotNull(note.signedBy(List.of(each.verifier())));
        }
        assertThrows(RecorderException.class, () -> log(disk).append(List.of(checkpoint(3))), "it gave way");
    }

    @Test
    void aKeyThatHasExpiredOrIsNotTheLogsCannotBeRotated() throws Exception {
        var expiring = new TransparencyLogWriter.Signer(List.of(key), NOW, NOW.plusSeconds(60));
        new TransparencyLogWriter(folder, expiring, InstantSource.fixed(NOW)).append(List.of(checkpoint(1)));
        byte[] before = Files.readAllBytes(folder.resolve(TilePath.CHECKPOINT));
        Ed25519Key next = Ed25519Key.create("blackbox/log/test", new SecureRandom());
        Instant late = NOW.plusSeconds(61);
        var tooLate = new TransparencyLogWriter(
                folder, new TransparencyLogWriter.Signer(List.of(next), late, null), InstantSource.fixed(late));
        assertThrows(RecorderException.class, () -> tooLate.rotate(List.of(key)));
        var inTime = new TransparencyLogWriter(folder, signer(next), InstantSource.fixed(NOW));
        assertThrows(RecorderException.class, () -> inTime.rotate(List.of(epoch)));
        assertArrayEquals(before, Files.readAllBytes(folder.resolve(TilePath.CHECKPOINT)), "nothing was appended");
    }

    @Test
    void aVerdictOnAReplayBecomesALeafThatTheLogsKeySigned() throws Exception {
        TransparencyLogWriter log = log(disk);
        log.certify(RUN, epoch.verifier());
        Hash document = Hash.sha256(new byte[1]);
        String note = log.replayed(RUN, ReplayNote.ReplayMethod.EXACT, ReplayNote.Outcome.IDENTICAL, document);
        SignedNote signed = SignedNote.parse(note);
        assertNotNull(signed);
        assertNotNull(signed.signedBy(List.of(key.verifier())));
        assertEquals(
                new ReplayNote(RUN, ReplayNote.ReplayMethod.EXACT, ReplayNote.Outcome.IDENTICAL, document, NOW),
                ReplayNote.parse(signed.text()));
        assertEquals(note, leaves(disk).getLast());
        assertEquals(3, leaves(disk).size());
    }
}
