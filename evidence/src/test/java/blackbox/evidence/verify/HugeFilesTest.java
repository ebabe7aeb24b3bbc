package blackbox.evidence.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestLog;
import blackbox.evidence.TestRun;
import blackbox.evidence.anchor.AnchorTrust;
import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.store.TrustFiles;
import blackbox.evidence.time.TestTimeAuthority;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.files.RefusedFileException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Files that are longer than any array: whoever reads one whole fails with an OutOfMemoryError, whatever the heap.
/// They
/// have holes, so they cost no disk.
class HugeFilesTest {
    private static final long HUGE_BYTES = 3L << 30;

    @TempDir
    Path folder;

    private TestLog log;
    private TestRun run;

    @BeforeEach
    void record() throws Exception {
        log = new TestLog(folder.resolve("log")).begin();
        run = TestEvents.smallBuild(TestRun.certified(folder, log), 4);
        run.table(0, 2, "PARQUET_VERSION v2");
        run.spool(2, run.batches.size());
        run.logCheckpoints(1, run.batches.size());
        log.publish();
        Path quarantine = Files.createDirectories(folder.resolve("quarantine").resolve(run.run.value()));
        Files.writeString(quarantine.resolve("batch.json"), "{\"stopsRun\":false}");
        Files.write(quarantine.resolve("spool-0.seg"), new byte[3]);
    }

    private Verification verify(AnchorTrust anchors) throws IOException {
        return RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(log.key.verifier()), null, anchors);
    }

    private static void lengthen(Path file) throws IOException {
        try (var raw = new RandomAccessFile(file.toFile(), "rw")) {
            raw.setLength(HUGE_BYTES);
        }
    }

    @Test
    void noneOfARunsFilesIsReadBeyondItsGreatestLength() throws Exception {
        assertEquals(Integrity.VERIFIED, verify(AnchorTrust.none()).integrity());
        var seen = new ArrayList<String>();
        for (Path file : evidence()) {
            byte[] octets = Files.readAllBytes(file);
            lengthen(file);
            Verification verification = verify(AnchorTrust.none());
            assertEquals(Integrity.TAMPERED, verification.integrity(), file::toString);
            assertFalse(verification.findings().isEmpty());
            Files.write(file, octets);
            seen.add(folder.relativize(file).getName(0).toString());
        }
        assertTrue(seen.containsAll(List.of("log", "spool", "warehouse", "quarantine")), seen::toString);
        assertEquals(Integrity.VERIFIED, verify(AnchorTrust.none()).integrity());
    }

    private List<Path> evidence() throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> Stream.of("log", "spool", "warehouse", "quarantine")
                            .anyMatch(part -> file.startsWith(folder.resolve(part))))
                    .toList();
        }
    }

    /// Such a file has no length, and no end.
    @Test
    void whatIsNoFileIsNotRead() throws Exception {
        Path tile = folder.resolve("log/tile/0/000.p/" + log.entries.size());
        for (Path file : List.of(folder.resolve("log/checkpoint"), tile, run.spool(2, run.batches.size()))) {
            byte[] octets = Files.readAllBytes(file);
            Files.delete(file);
            Files.createSymbolicLink(file, Path.of("/dev/zero"));
            Verification verification = verify(AnchorTrust.none());
            assertEquals(Integrity.TAMPERED, verification.integrity());
            assertTrue(
                    verification.findings().stream()
                            .anyMatch(finding -> finding.what().contains("is not a regular file")),
                    verification.findings()::toString);
            Files.delete(file);
            Files.write(file, octets);
        }
    }

    /// What proves nothing is a remark.
    @Test
    void anAnchorThatIsTooLongProvesNothing() throws Exception {
        Path anchors = Files.createDirectories(folder.resolve("log/anchors"));
        Path note = anchors.resolve(log.entries.size() + ".note");
        Files.copy(folder.resolve("log/checkpoint"), note);
        lengthen(Files.createFile(anchors.resolve(log.entries.size() + "-1.tsr")));
        var authority = TestTimeAuthority.create(TestTimeAuthority.Algorithm.ECDSA);
        var trust = new AnchorTrust(TrustPolicy.of(List.of()), TimeAuthorities.of(List.of(authority.root())));
        assertEquals(Integrity.VERIFIED, verify(trust).integrity());
        lengthen(note);
        assertEquals(Integrity.VERIFIED, verify(trust).integrity());
    }

    @Test
    void filesThatSayWhomToTrustAreNotReadBeyondTheirGreatestLength() throws Exception {
        Path file = Files.createFile(folder.resolve("huge"));
        lengthen(file);
        assertThrows(RefusedFileException.class, () -> TrustFiles.key(file));
        assertThrows(RefusedFileException.class, () -> TrustFiles.policy(file));
        assertThrows(RefusedFileException.class, () -> TrustFiles.certificates(file));
    }
}
