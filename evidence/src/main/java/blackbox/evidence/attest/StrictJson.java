package blackbox.evidence.attest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// JSON of objects and arrays whose fields are all known, each present exactly once, with text for values.
final class StrictJson implements AutoCloseable {

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private final JsonParser parser;

    private StrictJson(JsonParser parser) {
        this.parser = parser;
    }

    /// What reads one value of a field.
    interface Field {
        void read(String name) throws IOException, MalformedAttestationException;
    }

    /// What reads one element.
    interface Element {
        void read() throws IOException, MalformedAttestationException;
    }

    /// What writes a document.
    interface Document {
        void write(JsonGenerator out) throws IOException;
    }

    static StrictJson of(byte[] octets) throws IOException {
        return new StrictJson(FACTORY.createParser(text(octets)));
    }

    private static String text(byte[] octets) throws CharacterCodingException {
        return StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(octets))
                .toString();
    }

    static byte[] write(Document document) {
        var octets = new ByteArrayOutputStream();
        try (JsonGenerator out = FACTORY.createGenerator(octets)) {
            document.write(out);
        } catch (IOException e) {
            throw new UncheckedIOException("JSON in memory", e);
        }
        return octets.toByteArray();
    }

    /// Reads an object that has all of `required`, any of `optional` and nothing else.
    void object(Set<String> required, Set<String> optional, Field field)
            throws IOException, MalformedAttestationException {
        expect(parser.nextToken(), JsonToken.START_OBJECT);
        fields(required, optional, field);
    }

    private void fields(Set<String> required, Set<String> optional, Field field)
            throws IOException, MalformedAttestationException {
        var seen = new HashSet<String>();
        for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
            if (!required.contains(name) && !optional.contains(name)) {
                throw new MalformedAttestationException("a field that is not known: '" + name + "'");
            }
            seen.add(name);
            field.read(name);
        }
        expect(parser.currentToken(), JsonToken.END_OBJECT);
        if (!seen.containsAll(required)) {
            throw new MalformedAttestationException("not all of the fields " + required + " are there");
        }
    }

    /// Reads an object whose fields may have any names.
    void anyFields(Field field) throws IOException, MalformedAttestationException {
        expect(parser.nextToken(), JsonToken.START_OBJECT);
        for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
            field.read(name);
        }
        expect(parser.currentToken(), JsonToken.END_OBJECT);
    }

    /// Reads an array of objects with just these fields.
    void objects(Set<String> required, Set<String> optional, Element begin, Field field, Element end)
            throws IOException, MalformedAttestationException {
        expect(parser.nextToken(), JsonToken.START_ARRAY);
        while (parser.nextToken() == JsonToken.START_OBJECT) {
            begin.read();
            fields(required, optional, field);
            end.read();
        }
        expect(parser.currentToken(), JsonToken.END_ARRAY);
    }

    String string() throws IOException, MalformedAttestationException {
        expect(parser.nextToken(), JsonToken.VALUE_STRING);
        return parser.getText();
    }

    void end() throws IOException, MalformedAttestationException {
        if (parser.nextToken() != null) {
            throw new MalformedAttestationException("something follows the document's end");
        }
    }

    private static void expect(@Nullable JsonToken token, JsonToken expected) throws MalformedAttestationException {
        if (token != expected) {
            throw new MalformedAttestationException("there is " + token + " where " + expected + " should be");
        }
    }

    @Override
    public void close() throws IOException {
        parser.close();
    }
}
