package blackbox.query.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

class RunOpeningTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void aRunWhoseOpeningIsMalformedIsListedWithWhatItSays() throws Exception {
        JsonNode leaf = JSON.readTree("{\"tier\":\"\",\"image\":{\"name\":\"debian\",\"digest\":\"no digest\"}}");
        assertThrows(IllegalArgumentException.class, () -> RunOpening.of(leaf));
        assertEquals(new RunOpening.Summary("", "debian", "no digest"), RunOpening.summary(leaf));
    }

    @Test
    void whatIsNoTextIsNotShownAsOne() throws Exception {
        for (String leaf :
                new String[] {"{}", "[]", "7", "{\"tier\":7,\"image\":[\"name\"]}", "{\"image\":{\"name\":null}}"}) {
            assertEquals(new RunOpening.Summary(null, null, null), RunOpening.summary(JSON.readTree(leaf)), leaf);
        }
    }
}
