package blackbox.node.serve;

import blackbox.query.QueryException;
import blackbox.query.QueryException.Code;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/// JSON documents as bytes, and what requests' bodies say.
final class ApiJson {

    private static final JsonFactory JSON = new JsonFactory();
    private static final JsonMapper MAPPER = new JsonMapper();

    /// Writes the content of a document.
    @FunctionalInterface
    interface Body {
        void write(JsonGenerator out) throws IOException;
    }

    private ApiJson() {}

    /// What a request's body says.
    ///
    /// @throws QueryException `BAD_INPUT` if it is not JSON
    static JsonNode parse(String body) throws QueryException {
        try {
            return MAPPER.readTree(body);
        } catch (JsonProcessingException e) {
            throw new QueryException(Code.BAD_INPUT, "the body is not JSON", e);
        }
    }

    static byte[] document(Body body) {
        var octets = new ByteArrayOutputStream();
        try (JsonGenerator out = JSON.createGenerator(octets)) {
            body.write(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return octets.toByteArray();
    }
}
