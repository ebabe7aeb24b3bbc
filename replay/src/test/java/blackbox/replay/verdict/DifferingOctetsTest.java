package blackbox.replay.verdict;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.files.Folders;
import blackbox.recorder.keys.PayloadKeyFile;
import blackbox.replay.request.Difference;
import blackbox.schemas.RunId;
import blackbox.schemas.folder.DataFolder;
import blackbox.vault.ShredMark;
import blackbox.vault.Vault;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a request or an output contained is kept beside the run's payloads, encrypted as they are, and is not
/// in the document.
class DifferingOctetsTest {
    private static final Instant AT = Instant.parse("2026-11-24T09:00:00Z");
    private static final String GOLDEN =
            "{\"version\":1,\"at\":5,\"from\":0,\"recorded\":\"R0VUIC9hDQo=\",\"replayed\":\"R0VUIC//AA==\"}\n";
    private static final Difference DIFFERENCE = new Difference(5, 0, "GET /a\r\n", "GET /\u00ff\u0000");

    @TempDir
    Path data;

    private Vault vault;

    @BeforeEach
    void prepare() throws Exception {
        DataFolder folder = new DataFolder(data);
        Folders.createPrivate(folder.keys());
        Folders.createPrivate(folder.captures(verdict.run()));
        vault = PayloadKeyFile.vault(folder);
    }

    private final Verdict verdict =
            Verdict.failed(RunId.create(AT, new Random(1)), AT, ReplayMethod.RERUN, "for a place beside it");

    private Path file(Path document) {
        String name = "missed-" + document.getFileName().toString().replace(".json", "");
        return vault.file(verdict.run(), name);
    }

    @Test
    void theyComeBackAsTheyWereAndNoFileHasThemUnencrypted() throws Exception {
        DifferingOctets.REQUEST.keep(vault, verdict, DIFFERENCE);
        Path document = new VerdictStore(data).keep(verdict).file();
        assertEquals(DIFFERENCE, DifferingOctets.REQUEST.of(vault, verdict.run(), document));
        Path file = file(document);
        assertTrue(file.toString().endsWith(".enc"), file::toString);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertFalse(Files.readString(file, StandardCharsets.ISO_8859_1).contains("R0VU"));
        assertEquals(1, new VerdictStore(data).list(verdict.run()).size());
        assertEquals("GET /\\xff\\x00", Difference.printable(DIFFERENCE.replayed()));
    }

    @Test
    void theirFormIsAsSpecified() throws Exception {
        DifferingOctets.REQUEST.keep(vault, verdict, DIFFERENCE);
        String name = "missed-" + VerdictStore.name(verdict).replace(".json", "");
        try (var in = vault.stream(verdict.run(), name)) {
            assertEquals(GOLDEN, new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    @Test
    void whereThereAreNoneNoneAreFound() throws Exception {
        assertNull(DifferingOctets.REQUEST.of(
                vault, verdict.run(), new VerdictStore(data).keep(verdict).file()));
    }

    @Test
    void damageIsReported() throws Exception {
        Path document = new VerdictStore(data).keep(verdict).file();
        for (String damaged :
                new String[] {"", "{", GOLDEN.replace("1", "2"), GOLDEN.replace("5", "-1"), "x".repeat(9_999)}) {
            vault.store(
                    verdict.run(),
                    "missed-" + VerdictStore.name(verdict).replace(".json", ""),
                    damaged.getBytes(StandardCharsets.UTF_8));
            assertThrows(IOException.class, () -> DifferingOctets.REQUEST.of(vault, verdict.run(), document), damaged);
        }
    }

    /// A replay may have both.
    @Test
    void thoseOfARequestAndOfTheOutputAreKeptApart() throws Exception {
        var printed = new Difference(1, 0, "ab", "ac");
        DifferingOctets.REQUEST.keep(vault, verdict, DIFFERENCE);
        DifferingOctets.OUTPUT.keep(vault, verdict, printed);
        Path document = new VerdictStore(data).keep(verdict).file();
        assertEquals(DIFFERENCE, DifferingOctets.REQUEST.of(vault, verdict.run(), document));
        assertEquals(printed, DifferingOctets.OUTPUT.of(vault, verdict.run(), document));
        String name = "printed-" + document.getFileName().toString().replace(".json", "");
        assertTrue(vault.file(verdict.run(), name).toString().endsWith(".enc"));
    }

    @Test
    void shreddedWithTheRunTheyAreGone() throws Exception {
        DifferingOctets.REQUEST.keep(vault, verdict, DIFFERENCE);
        Path document = new VerdictStore(data).keep(verdict).file();
        vault.shred(new ShredMark(verdict.run(), AT, "a test"));
        assertFalse(Files.exists(file(document)));
        assertThrows(IOException.class, () -> DifferingOctets.REQUEST.keep(vault, verdict, DIFFERENCE));
    }
}
