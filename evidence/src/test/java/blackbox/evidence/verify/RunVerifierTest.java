package blackbox.evidence.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.KnownSignatures;
import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.log.NoteVerifier;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.Verification.Completeness;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.row.Text;
import blackbox.schemas.table.DataFileName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunVerifierTest {

    @TempDir
    Path folder;

    private TestRun run;
    private NoteVerifier trusted;

    @BeforeEach
    void record() throws Exception {
        run = TestEvents.smallBuild(new TestRun(folder), 3);
        trusted = run.key.verifier();
    }

    private Verification verify() throws IOException {
        return RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(trusted));
    }

    @Test
    void aWholeRunHolds() throws Exception {
        run.table(0, 2, "PARQUET_VERSION v2");
        run.table(2, 4, "PARQUET_VERSION v1");
        Verification verification = verify();
        assertEquals(List.of(), verification.findings());
        assertEquals(Integrity.VERIFIED, verification.integrity());
        assertEquals(Completeness.LOSS_DECLARED, verification.completeness());
        assertEquals(run.batches.getLast().endIndex(), verification.events());
        assertEquals(4, verification.checkpoints());
        assertTrue(verification.authorship().trusted());
        assertTrue(verification.holds());
    }

    @Test
    void theSpoolGoesOnWhereTheTableEnds() throws Exception {
        run.table(0, 2, "PARQUET_VERSION v2");
        run.spool(1, 4);
        Verification verification = verify();
        assertEquals(List.of(), verification.findings());
        assertTrue(verification.holds());
        assertEquals(run.batches.getLast().endIndex(), verification.events());
    }

    @Test
    void aRunInTheSpoolAloneHolds() throws Exception {
        run.spool(0, 4);
        assertTrue(verify().holds());
    }

    @Test
    void aFlipOfAnyByteOfAnyFileIsFound() throws Exception {
        TestLog log = new TestLog(folder.resolve("log")).begin();
        run = TestEvents.smallBuild(TestRun.certified(folder, log, run.run), 1);
        run.logCheckpoints(0, 2);
        log.publish();
        run.table(0, 1, "PARQUET_VERSION v2");
        run.spool(0, 2);
        trusted = log.key.verifier();
        assertTrue(verify().holds());
        try (var known = KnownSignatures.use()) {
            int flips = flipEach();
            assertTrue(flips > 5_000, flips + " flips");
            assertTrue(verify().holds());
            assertTrue(known.count() < 100, known.count() + " valid signatures; a changed one is not");
        }
    }

    /// Flips one bit of every octet of every file in turn. How many that were.
    private int flipEach() throws Exception {
        int flips = 0;
        for (Path file : evidence()) {
            byte[] octets = Files.readAllBytes(file);
            for (int i = 0; i < octets.length; i++) {
                byte was = octets[i];
                octets[i] ^= (byte) (1 << i % 8);
                Files.write(file, octets);
                Verification verification = verify();
                String where = file.getFileName() + " octet " + i;
                assertEquals(Integrity.TAMPERED, verification.integrity(), where);
                assertFalse(verification.findings().isEmpty(), where);
                octets[i] = was;
                flips++;
            }
            Files.write(file, octets);
        }
        return flips;
    }

    /// Someone who holds ingest's key can seal anything; the leaves still have to lead to the signed root.
    @Test
    void aFlipUnderAFreshSealIsFoundOrChangesNoLeaf() throws Exception {
        Path file = run.table();
        byte[] octets = Files.readAllBytes(file);
        var random = new Random(20261121);
        int found = 0;
        for (int round = 0; round < 1_000; round++) {
            byte[] changed = octets.clone();
            changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, changed);
            run.sealFile(file, name(file), run.key);
            Verification verification = verify();
            found += verification.integrity() == Integrity.TAMPERED ? 1 : 0;
        }
        assertTrue(found > 300, found + " of 1000 found; the others changed what no reader looks at");
    }

    @Test
    void withoutTheLastBatchTheRunIsTruncated() throws Exception {
        run.spool(0, 3);
        assertVerdict(Integrity.VERIFIED, Completeness.TRUNCATED);
    }

    @Test
    void withoutTheLastFileTheRunIsTruncated() throws Exception {
        run.table(0, 2, "PARQUET_VERSION v2");
        Path last = run.table(2, 4, "PARQUET_VERSION v2");
        Files.delete(last);
        assertVerdict(Integrity.VERIFIED, Completeness.TRUNCATED);
        Files.delete(last.resolveSibling(name(last).sealName()));
        assertVerdict(Integrity.VERIFIED, Completeness.TRUNCATED);
    }

    @Test
    void withoutAFileInTheMiddleNothingBehindItIsBelieved() throws Exception {
        run.table(0, 1, "PARQUET_VERSION v2");
        Path middle = run.table(1, 2, "PARQUET_VERSION v2");
        run.table(2, 4, "PARQUET_VERSION v2");
        Files.delete(middle);
        Verification verification = verify();
        assertEquals(Integrity.TAMPERED, verification.integrity());
        assertEquals(run.batches.getFirst().endIndex(), verification.events());
    }

    @Test
    void aFileWithoutItsSealFails() throws Exception {
        Path file = run.table();
        Files.delete(file.resolveSibling(name(file).sealName()));
        assertEquals(Integrity.TAMPERED, verify().integrity());
    }

    @Test
    void aFileThatIsThereTwiceIsFound() throws Exception {
        run.table(0, 2, "PARQUET_VERSION v2");
        Path file = run.table(2, 4, "PARQUET_VERSION v2");
        DataFileName was = name(file);
        var copy = new DataFileName(was.firstIndex(), was.endIndex(), "00000000");
        Path target = Files.copy(file, file.resolveSibling(copy.toString()));
        assertEquals(Integrity.TAMPERED, verify().integrity());
        Files.copy(Path.of(file + ".seal"), Path.of(target + ".seal"));
        assertEquals(Integrity.TAMPERED, verify().integrity());
    }

    /// What ingest leaves when it is killed while one file takes the place of several.
    @Test
    void smallFilesBesideTheOneThatReplacedThemAreToldOf() throws Exception {
        run.table(0, 2, "PARQUET_VERSION v2");
        run.table(2, 3, "PARQUET_VERSION v2");
        run.table(0, 4, "PARQUET_VERSION v2");
        Verification verification = verify();
        assertTrue(verification.holds(), () -> verification.findings().toString());
        assertEquals(2, verification.findings().size());
        assertEquals(run.batches.getLast().endIndex(), verification.events());
        TestRun third = new TestRun(folder, run.run, run.key).open("build");
        third.add(new Event.RunOpen(EventHeader.host(third.tick()), Text.of("else"), "{}"));
        third.seal();
        third.table();
        assertEquals(Integrity.TAMPERED, verify().integrity());
    }

    @Test
    void batchesInAnotherOrderAreFound() throws Exception {
        run.spool(0, 1);
        byte[] second = Files.readAllBytes(run.spool(1, 2));
        byte[] third = Files.readAllBytes(run.spool(2, 3));
        run.spool(3, 4);
        Files.write(run.spoolFolder().resolve("%012d.seg".formatted(1)), third);
        Files.write(run.spoolFolder().resolve("%012d.seg".formatted(2)), second);
        assertFalse(verify().holds());
    }

    @Test
    void aBatchThatIsThereTwiceIsFound() throws Exception {
        run.spool(0, 4);
        Path again = run.spool(2, 3);
        Files.move(again, again.resolveSibling("%012d.seg".formatted(9)));
        run.spool(0, 4);
        assertEquals(Integrity.TAMPERED, verify().integrity());
    }

    @Test
    void aRunSignedAgainWithAnotherKeyIsFound() throws Exception {
        Ed25519Key mine = run.key;
        Ed25519Key other = TestRun.newKey();
        run = TestEvents.smallBuild(new TestRun(folder, run.run, other), 3);
        run.table();
        Verification verification = RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(mine.verifier()));
        assertEquals(Integrity.TAMPERED, verification.integrity());
        assertFalse(verification.authorship().trusted());
        Path file = evidence().getFirst();
        run.sealFile(file, name(file), mine);
        verification = RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(mine.verifier()));
        assertEquals(Integrity.TAMPERED, verification.integrity());
        assertEquals(0, verification.events());
        assertFalse(verification.authorship().trusted());
    }

    @Test
    void anIngestKeySignsNoCheckpoint() throws Exception {
        Ed25519Key ingest = Ed25519Key.create("blackbox/ingest", new SecureRandom());
        run = TestEvents.smallBuild(new TestRun(folder, run.run, ingest), 1);
        trusted = ingest.verifier();
        run.table();
        assertEquals(Integrity.TAMPERED, verify().integrity());
    }

    @Test
    void anotherRunsFileIsFound() throws Exception {
        TestRun other = TestEvents.smallBuild(
                new TestRun(folder.resolve("other"), new TestRun(folder.resolve("x")).run, run.key), 3);
        Path foreign = other.table();
        Files.createDirectories(run.dataFolder());
        for (String suffix : List.of("", ".seal")) {
            Files.copy(Path.of(foreign + suffix), run.dataFolder().resolve(foreign.getFileName() + suffix));
        }
        assertEquals(Integrity.TAMPERED, verify().integrity());
    }

    @Test
    void anOpenRunIsOpenAndATornWriteOfADeadOneTruncated() throws Exception {
        Path segment = run.spool(0, 3);
        byte[] octets = Files.readAllBytes(segment);
        Files.write(segment, Arrays.copyOf(octets, octets.length - 100));
        assertVerdict(Integrity.VERIFIED, Completeness.TRUNCATED);
        try (var lock = run.lock()) {
            assertTrue(lock.channel().isOpen());
            assertVerdict(Integrity.VERIFIED, Completeness.OPEN);
        }
    }

    @Test
    void whatIsAppendedBehindTheCloseIsFound() throws Exception {
        run.add(new Event.RunOpen(EventHeader.host(run.tick()), Text.of("more"), "{}"));
        run.seal();
        run.table();
        assertEquals(Integrity.TAMPERED, verify().integrity());
    }

    @Test
    void garbageIsTamperedAndNotAFailure() throws Exception {
        Path file = run.table();
        for (byte[] garbage : List.of(new byte[0], new byte[1], "PAR1PAR1PAR1".getBytes(StandardCharsets.UTF_8))) {
            Files.write(file, garbage);
            assertEquals(Integrity.TAMPERED, verify().integrity());
        }
        Files.writeString(file.resolveSibling(name(file).sealName()), "not a seal");
        assertEquals(Integrity.TAMPERED, verify().integrity());
    }

    @Test
    void withoutKeysNothingIsBelieved() throws Exception {
        run.table();
        Verification verification = RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of());
        assertEquals(Integrity.TAMPERED, verification.integrity());
    }

    private void assertVerdict(Integrity integrity, Completeness completeness) throws IOException {
        Verification verification = verify();
        assertEquals(
                integrity,
                verification.integrity(),
                () -> verification.findings().toString());
        assertEquals(
                completeness,
                verification.completeness(),
                () -> verification.findings().toString());
    }

    private static DataFileName name(Path file) {
        DataFileName name = DataFileName.parse(String.valueOf(file.getFileName()));
        if (name == null) {
            throw new IllegalArgumentException(file + " is no data file");
        }
        return name;
    }

    private List<Path> evidence() throws IOException {
        try (var files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> !file.startsWith(folder.resolve("keys")))
                    .sorted()
                    .toList();
        }
    }
}
