package blackbox.evidence.proof;

import blackbox.evidence.log.LogProof;
import blackbox.evidence.log.SignedNote;
import blackbox.evidence.proof.EventProof.LoggedNote;
import blackbox.evidence.proof.EventProof.ProvenLeaf;
import blackbox.schemas.RunId;
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
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Writes and reads proofs of events as JSON. Reading accepts exactly the fields of the format, each once.
public final class ProofJson {

    private static final Set<String> FIELDS =
            Set.of("format", "run", "index", "leaf", "inRun", "signer", "inLog", "statements", "timeTokens", "limits");
    private static final int ELEMENTS_MAX = 10_000;

    private static final JsonFactory JSON = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private ProofJson() {}

    /// The proof as a document that ends in a newline.
    public static byte[] encode(EventProof proof) {
        var octets = new ByteArrayOutputStream();
        try (JsonGenerator out = JSON.createGenerator(octets)) {
            out.useDefaultPrettyPrinter();
            write(out, proof);
        } catch (IOException e) {
            throw new UncheckedIOException("memory cannot be written to", e);
        }
        octets.write('\n');
        return octets.toByteArray();
    }

    /// Writes one object.
    public static void write(JsonGenerator out, EventProof proof) throws IOException {
        out.writeStartObject();
        out.writeStringField("format", EventProof.FORMAT);
        out.writeStringField("run", proof.run().value());
        out.writeNumberField("index", proof.index());
        leaf(out, proof.event());
        out.writeFieldName("signer");
        ProvenLeaf signer = proof.signer();
        if (signer == null) {
            out.writeNull();
        } else {
            out.writeStartObject();
            leaf(out, signer);
            out.writeEndObject();
        }
        LogProof inLog = proof.inLog();
        out.writeStringField("inLog", inLog == null ? null : inLog.encoded());
        out.writeArrayFieldStart("statements");
        for (LoggedNote statement : proof.statements()) {
            out.writeStartObject();
            out.writeStringField("note", statement.note().encoded());
            out.writeStringField("inLog", statement.inLog().encoded());
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeArrayFieldStart("timeTokens");
        for (byte[] token : proof.timeTokens()) {
            out.writeString(Base64.getEncoder().encodeToString(token));
        }
        out.writeEndArray();
        out.writeArrayFieldStart("limits");
        for (String limit : proof.limits()) {
            out.writeString(limit);
        }
        out.writeEndArray();
        out.writeEndObject();
    }

    private static void leaf(JsonGenerator out, ProvenLeaf leaf) throws IOException {
        out.writeStringField("leaf", Base64.getEncoder().encodeToString(leaf.leaf()));
        out.writeStringField("inRun", leaf.inRun().encoded());
    }

    /// Whether octets look like a proof of an event, of whatever version.
    public static boolean looksLikeOne(byte[] octets) {
        String start = new String(octets, 0, Math.min(octets.length, 256), StandardCharsets.UTF_8);
        return start.stripLeading().startsWith("{") && start.contains("\"blackbox/event-proof/");
    }

    /// Reads a proof.
    ///
    /// @throws MalformedProofException when the octets are not one of this version
    public static EventProof parse(byte[] octets) throws MalformedProofException {
        if (octets.length > EventProof.BYTES_MAX) {
            throw new MalformedProofException("it is longer than " + EventProof.BYTES_MAX + " octets");
        }
        try (JsonParser in = JSON.createParser(text(octets))) {
            Object document = in.nextToken() == JsonToken.START_OBJECT ? value(in, 0) : null;
            if (!(document instanceof Fields fields) || in.nextToken() != null) {
                throw new MalformedProofException("it is not one JSON object");
            }
            return proof(fields);
        } catch (IOException e) {
            throw new MalformedProofException("it is not JSON: " + e.getMessage(), e);
        }
    }

    private static String text(byte[] octets) throws CharacterCodingException {
        return StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(octets))
                .toString();
    }

    private static EventProof proof(Fields in) throws MalformedProofException {
        if (!EventProof.FORMAT.equals(in.map.get("format"))) {
            throw new MalformedProofException("its format is not " + EventProof.FORMAT);
        }
        in.require(FIELDS);
        var statements = new ArrayList<LoggedNote>();
        for (Object each : in.list("statements")) {
            Fields statement = fields(each, Set.of("note", "inLog"));
            statements.add(new LoggedNote(note(statement.string("note")), logProof(statement.string("inLog"))));
        }
        var tokens = new ArrayList<byte[]>();
        for (Object token : in.list("timeTokens")) {
            tokens.add(base64(token));
        }
        var limits = new ArrayList<String>();
        for (Object limit : in.list("limits")) {
            limits.add(String.valueOf(limit));
        }
        Object signer = in.map.get("signer");
        return new EventProof(
                run(in.string("run")),
                in.index(),
                leaf(in),
                signer == null ? null : leaf(fields(signer, Set.of("leaf", "inRun"))),
                in.map.get("inLog") == null ? null : logProof(in.string("inLog")),
                statements,
                tokens,
                limits);
    }

    private static ProvenLeaf leaf(Fields in) throws MalformedProofException {
        return new ProvenLeaf(base64(in.string("leaf")), logProof(in.string("inRun")));
    }

    private static Fields fields(Object value, Set<String> names) throws MalformedProofException {
        if (value instanceof Fields fields) {
            fields.require(names);
            return fields;
        }
        throw new MalformedProofException("an object is missing");
    }

    private static RunId run(String text) throws MalformedProofException {
        try {
            return new RunId(text);
        } catch (IllegalArgumentException e) {
            throw new MalformedProofException(String.valueOf(e.getMessage()), e);
        }
    }

    private static SignedNote note(String text) throws MalformedProofException {
        SignedNote note = SignedNote.parse(text);
        if (note == null) {
            throw new MalformedProofException("a key statement is not a signed note");
        }
        return note;
    }

    private static LogProof logProof(String text) throws MalformedProofException {
        LogProof proof = LogProof.parse(text);
        if (proof == null || proof.extra() != null) {
            throw new MalformedProofException("a field is not a " + LogProof.VERSION + "");
        }
        return proof;
    }

    private static byte[] base64(Object text) throws MalformedProofException {
        try {
            byte[] octets = Base64.getDecoder().decode(String.valueOf(text));
            if (Base64.getEncoder().encodeToString(octets).equals(text)) {
                return octets;
            }
        } catch (IllegalArgumentException e) {
            throw new MalformedProofException("a leaf or a time token is not base64", e);
        }
        throw new MalformedProofException("a leaf or a time token is not canonical base64");
    }

    /// An object's fields by name: values are strings, longs, lists, objects or null.
    private record Fields(Map<String, @Nullable Object> map) {

        void require(Set<String> names) throws MalformedProofException {
            if (!map.keySet().equals(names)) {
                throw new MalformedProofException("it has the fields " + map.keySet() + " instead of " + names);
            }
        }

        String string(String name) throws MalformedProofException {
            if (map.get(name) instanceof String text) {
                return text;
            }
            throw new MalformedProofException(name + " is not a string");
        }

        long index() throws MalformedProofException {
            if (map.get("index") instanceof Long index && index >= 0) {
                return index;
            }
            throw new MalformedProofException("index is not a number from 0 to 2^63 - 1");
        }

        List<Object> list(String name) throws MalformedProofException {
            if (map.get(name) instanceof List<?> list) {
                return List.copyOf(list);
            }
            throw new MalformedProofException(name + " is not a list");
        }
    }

    private static @Nullable Object value(JsonParser in, int depth) throws IOException, MalformedProofException {
        if (depth > 3) {
            throw new MalformedProofException("its objects are nested too deep");
        }
        return switch (in.currentToken()) {
            case VALUE_STRING -> in.getText();
            case VALUE_NUMBER_INT -> in.getLongValue();
            case VALUE_NULL -> null;
            case START_OBJECT -> {
                var map = new HashMap<String, @Nullable Object>();
                while (in.nextToken() == JsonToken.FIELD_NAME) {
                    String name = in.currentName();
                    in.nextToken();
                    map.put(name, value(in, depth + 1));
                }
                yield new Fields(map);
            }
            case START_ARRAY -> {
                var list = new ArrayList<Object>();
                while (in.nextToken() != JsonToken.END_ARRAY) {
                    Object element = value(in, depth + 1);
                    if (element == null || list.size() == ELEMENTS_MAX) {
                        throw new MalformedProofException("a list has a null, or too many elements");
                    }
                    list.add(element);
                }
                yield list;
            }
            case null, default -> throw new MalformedProofException("a value is of a type that no field has");
        };
    }
}
