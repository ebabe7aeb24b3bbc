package blackbox.query.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.evidence.verify.RunVerifier;
import blackbox.evidence.verify.Verification;
import blackbox.evidence.verify.Verification.Integrity;
import blackbox.schemas.table.DataFileName;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What an engine does not see, the verifier finds.
class HiddenRowsTest {

    @TempDir
    Path folder;

    /// The leaves are all there, but engines skip row groups by their statistics.
    @Test
    void statisticsThatHideRowsAreFound() throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder), 3);
        Path file = run.table();
        String kind = select("SELECT max(kind) AS m FROM events").path("m").asText();
        assertTrue(rowsOf(kind) > 0);
        byte[] octets = Files.readAllBytes(file);
        assertTrue(lower(octets, kind) > 0);
        Files.write(file, octets);
        run.sealFile(file, Objects.requireNonNull(DataFileName.parse(String.valueOf(file.getFileName()))), run.key);
        assertEquals(0, rowsOf(kind));
        Verification verification =
                RunVerifier.verify(Recordings.unchecked(folder), run.run, List.of(run.key.verifier()));
        assertEquals(Integrity.TAMPERED, verification.integrity());
        assertTrue(
                verification.findings().toString().contains("statistics"),
                () -> verification.findings().toString());
    }

    /// Makes the bound `max` a bit less wherever the footer has it, and says how often that was.
    private static int lower(byte[] octets, String max) {
        byte[] bound = max.getBytes(StandardCharsets.UTF_8);
        int footer = ByteBuffer.wrap(octets).order(ByteOrder.LITTLE_ENDIAN).getInt(octets.length - 8);
        int lowered = 0;
        for (int at = octets.length - 8 - footer; at < octets.length - bound.length; at++) {
            int end = at + bound.length;
            if (octets[at - 1] == bound.length && Arrays.equals(octets, at, end, bound, 0, bound.length)) {
                octets[end - 1]--;
                lowered++;
            }
        }
        return lowered;
    }

    private int rowsOf(String kind) throws Exception {
        return select("SELECT count(*) AS n FROM events WHERE kind = '" + kind + "'")
                .path("n")
                .asInt();
    }

    private JsonNode select(String sql) throws Exception {
        var text = new StringWriter();
        try (SqlEngine engine = SqlEngine.open(Recordings.unchecked(folder), SqlLimits.DEFAULT);
                JsonGenerator out = new JsonFactory().createGenerator(text)) {
            engine.select(sql, new JsonResult(out));
        }
        return new ObjectMapper().readTree(text.toString()).path(0);
    }
}
