package blackbox.evidence.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Ingest, the verifier and proofs decide by this certificate who may sign a run; readers of the whole leaf must see
/// the same one.
class LeafDetailTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String LEAF =
            "{\"tier\":\"live\",\"recorder\":{\"version\":\"1\",\"key\":\"k\",\"certificate\":\"note\\n\"},\"start\":{}}";

    @ParameterizedTest
    @ValueSource(
            strings = {
                LEAF,
                "{}",
                "[]",
                "null",
                "{\"certificate\":\"a\"}",
                "{\"recorder\":\"a\"}",
                "{\"recorder\":[{\"certificate\":\"a\"}]}",
                "{\"recorder\":{\"certificate\":null}}",
                "{\"recorder\":{\"certificate\":7}}",
                "{\"recorder\":{\"certificate\":{\"certificate\":\"a\"}}}",
                "{\"recorder\":{\"x\":{\"certificate\":\"a\"}}}",
                "{\"x\":{\"recorder\":{\"certificate\":\"a\"}}}",
                "{\"recorder\":{\"certificate\":\"a\",\"certificate\":\"b\"}}",
                "{\"recorder\":{\"certificate\":\"a\"},\"recorder\":{}}",
                "{\"recorder\":{\"certificate\":\"a\"},\"recorder\":7}",
                "{\"recorder\":{},\"recorder\":{\"certificate\":\"b\"}}",
                "{\"\\u0072ecorder\":{\"certificate\":\"\"}}",
                "{\"recorder\":{\"certificate\":\"a\"}} and more"
            })
    void theCertificateIsTheOneThatAReaderOfTheWholeLeafSees(String leaf) {
        assertSame(leaf);
    }

    @Test
    void aLeafThatIsCutHasNone() {
        for (int end = 0; end <= LEAF.length(); end++) {
            assertSame(LEAF.substring(0, end));
        }
    }

    private static void assertSame(String leaf) {
        JsonNode expected = tree(leaf).path(LeafDetail.RECORDER).path(LeafDetail.CERTIFICATE);
        assertEquals(
                new LeafDetail.Certificate(!expected.isMissingNode(), expected.textValue()),
                LeafDetail.certificate(leaf),
                leaf);
    }

    private static JsonNode tree(String leaf) {
        try {
            return JSON.readTree(leaf);
        } catch (JsonProcessingException e) {
            return MissingNode.getInstance();
        }
    }
}
