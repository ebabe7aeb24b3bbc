package blackbox.query.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.proof.ProofVerdict;
import blackbox.evidence.proof.ProofVerifier;
import blackbox.evidence.proof.ProvenRun;
import blackbox.evidence.store.Recordings;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProofColumnTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path folder;

    private static JsonNode select(Recordings recordings, String sql, ProofColumn proofs) throws Exception {
        var text = new StringWriter();
        try (SqlEngine engine = SqlEngine.open(recordings, SqlLimits.DEFAULT);
                JsonGenerator out = new JsonFactory().createGenerator(text)) {
            engine.select(sql, new JsonResult(out, proofs::write));
        }
        return JSON.readTree(text.toString());
    }

    @Test
    void rowsThatCameFromEventsCarryTheirProofs() throws Exception {
        var proven = new ProvenRun(folder);
        var recordings = Recordings.unchecked(folder);
        var proofs = new ProofColumn(recordings);
        JsonNode rows = select(recordings, "SELECT run, index, kind FROM events ORDER BY index", proofs);
        assertEquals(proven.run.batches.get(1).endIndex(), rows.size());
        for (JsonNode row : rows) {
            byte[] octets = row.path("proof").toString().getBytes(StandardCharsets.UTF_8);
            ProofVerdict verdict = ProofVerifier.verify(octets, proven.trust());
            assertTrue(verdict.holds(), row::toString);
            assertEquals(row.path("kind").asText(), verdict.kind());
            assertEquals(
                    row.path("index").asLong(), row.path("proof").path("index").asLong());
        }
        assertEquals(rows.size(), proofs.rows());
        assertEquals(0, proofs.without());
    }

    @Test
    void otherRowsCarryNone() throws Exception {
        new ProvenRun(folder);
        var recordings = Recordings.unchecked(folder);
        var proofs = new ProofColumn(recordings);
        for (String sql : new String[] {
            "SELECT kind FROM events LIMIT 2",
            "SELECT run, 'x' AS index FROM events LIMIT 2",
            "SELECT run, 1000000 AS index FROM events LIMIT 2",
            "SELECT 'no run' AS run, index FROM events LIMIT 2",
            "SELECT '01kaj3v4e0zzzzzzzzzzzzzzzz' AS run, index FROM events LIMIT 2"
        }) {
            for (JsonNode row : select(recordings, sql, proofs)) {
                assertTrue(row.path("proof").isNull(), row::toString);
            }
        }
        assertEquals(10, proofs.rows());
        assertEquals(10, proofs.without());
        assertNull(proofs.unprovable());
    }
}
