package blackbox.evidence.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RefusedBatchTest {

    private static RefusedBatch refused(boolean stopsRun) {
        return new RefusedBatch(
                new RunId("01m851kxp2raf8deb5835v2x79"),
                3,
                "HASH",
                "says \"stopsRun\":true",
                stopsRun,
                Instant.EPOCH,
                17,
                Hash.sha256(new byte[17]),
                true);
    }

    @Test
    void whatItSaysInWordsIsNotTakenForTheVerdict() throws Exception {
        assertEquals(false, RefusedBatch.stopsRun(refused(false).toJson()));
        assertEquals(true, RefusedBatch.stopsRun(refused(true).toJson()));
    }

    @Test
    void spacesDoNotHideIt() {
        assertTrue(RefusedBatch.stopsRun("{ \"stopsRun\" : true }".getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{}",
                "{\"stopsRun\":\"false\"}",
                "{\"a\":{\"stopsRun\":false}}",
                "{\"stopsRun\":false,\"stopsRun\":false}",
                "{\"stopsRun\":false"
            })
    void whatCannotBeReadCountsAsStopping(String json) {
        assertTrue(RefusedBatch.stopsRun(json.getBytes(StandardCharsets.UTF_8)));
    }
}
