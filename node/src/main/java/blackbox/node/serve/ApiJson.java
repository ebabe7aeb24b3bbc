package blackbox.node.serve;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/// JSON documents as bytes.
final class ApiJson {

    private static final JsonFactory JSON = new JsonFactory();

    /// Writes the content of a document.
    @FunctionalInterface
    interface Body {
        void write(JsonGenerator out) throws IOException;
    }

    private ApiJson() {}

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
