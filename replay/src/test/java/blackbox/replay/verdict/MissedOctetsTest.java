package blackbox.replay.verdict;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.replay.cassette.Difference;
import blackbox.schemas.RunId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a request held is kept beside the verdict's document, for its owner, and is not in the document.
class MissedOctetsTest {
    private static final Instant AT = Instant.parse("2026-11-24T09:00:00Z");
    private static final String GOLDEN =
            "{\"version\":1,\"at\":5,\"from\":0,\"recorded\":\"R0VUIC9hDQo=\",\"replayed\":\"R0VUIC//AA==\"}\n";
    private static final Difference DIFFERENCE = new Difference(5, 0, "GET /a\r\n", "GET /\u00ff\u0000");

    @TempDir
    Path data;

    private final Verdict verdict =
            Verdict.failed(RunId.create(AT, new Random(1)), AT, ReplayMethod.RERUN, "for a place beside it");

    @Test
    void theyAreTheOwnersAndComeBackAsTheyWere() throws Exception {
        MissedOctets.keep(data, verdict, DIFFERENCE);
        Path document = new VerdictStore(data).keep(verdict).file();
        MissedOctets found = MissedOctets.of(document);
        assertNotNull(found);
        assertEquals(DIFFERENCE, found.difference());
        assertEquals(GOLDEN, Files.readString(found.file()));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(found.file())));
        assertEquals(1, new VerdictStore(data).list(verdict.run()).size());
        assertEquals("GET /\\xff\\x00", Difference.printable(found.difference().replayed()));
    }

    @Test
    void whereThereAreNoneNoneAreFound() throws Exception {
        assertNull(MissedOctets.of(new VerdictStore(data).keep(verdict).file()));
    }

    @Test
    void whatIsDamagedIsSaidToBe() throws Exception {
        Path document = new VerdictStore(data).keep(verdict).file();
        for (String damaged :
                new String[] {"", "{", GOLDEN.replace("1", "2"), GOLDEN.replace("5", "-1"), "x".repeat(9_999)}) {
            Files.writeString(
                    document.resolveSibling(document.getFileName().toString().replace(".json", ".octets")), damaged);
            assertThrows(IOException.class, () -> MissedOctets.of(document), damaged);
        }
    }
}
