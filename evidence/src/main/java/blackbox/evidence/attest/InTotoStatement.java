package blackbox.evidence.attest;

import blackbox.schemas.Hash;
import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// A statement about files (in-toto Statement v1): the name and SHA-256 of each, and what they are together.
///
/// @param subjects SHA-256 by name, in the order in which they are written
/// @param predicate properties of all of them together
public record InTotoStatement(Map<String, Hash> subjects, String predicateType, Map<String, String> predicate) {

    /// The payload type of an envelope around a statement.
    public static final String PAYLOAD_TYPE = "application/vnd.in-toto+json";

    /// Our predicate: the subjects are all files of an evidence bundle except the envelope itself.
    public static final String BUNDLE_V1 = "urn:blackbox:bundle:v1";

    private static final String TYPE = "https://in-toto.io/Statement/v1";

    public InTotoStatement {
        subjects = Collections.unmodifiableMap(new LinkedHashMap<>(subjects));
        predicate = Collections.unmodifiableMap(new TreeMap<>(predicate));
        if (subjects.isEmpty() || subjects.containsKey("") || predicateType.isEmpty()) {
            throw new IllegalArgumentException("a statement is about something, and each thing has a name");
        }
    }

    /// The statement as JSON: what is signed. No newline at the end.
    public byte[] toJson() {
        return StrictJson.write(out -> {
            out.writeStartObject();
            out.writeStringField("_type", TYPE);
            out.writeArrayFieldStart("subject");
            for (Map.Entry<String, Hash> subject : subjects.entrySet()) {
                out.writeStartObject();
                out.writeStringField("name", subject.getKey());
                out.writeObjectFieldStart("digest");
                out.writeStringField("sha256", subject.getValue().toString());
                out.writeEndObject();
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeStringField("predicateType", predicateType);
            out.writeObjectFieldStart("predicate");
            for (Map.Entry<String, String> word : predicate.entrySet()) {
                out.writeStringField(word.getKey(), word.getValue());
            }
            out.writeEndObject();
            out.writeEndObject();
        });
    }

    /// Reads the statement in an envelope whose signatures were checked.
    ///
    /// @param predicateTypes those that the caller supports; any other is refused
    /// @throws MalformedAttestationException when it is none
    public static InTotoStatement of(DsseEnvelope envelope, Set<String> predicateTypes)
            throws MalformedAttestationException {
        if (!envelope.payloadType().equals(PAYLOAD_TYPE)) {
            throw new MalformedAttestationException("a payload type that is not known: " + envelope.payloadType());
        }
        InTotoStatement statement = parse(envelope.payload());
        if (!predicateTypes.contains(statement.predicateType())) {
            throw new MalformedAttestationException("a predicate that is not known: " + statement.predicateType());
        }
        return statement;
    }

    /// Reads a statement's JSON: exactly the fields that are written here, with lower-case hex for hashes.
    ///
    /// @throws MalformedAttestationException when it is none
    static InTotoStatement parse(byte[] octets) throws MalformedAttestationException {
        try (StrictJson json = StrictJson.of(octets)) {
            var reader = new Reader(json);
            json.object(Set.of("_type", "subject", "predicateType", "predicate"), Set.of(), reader::field);
            json.end();
            return new InTotoStatement(reader.subjects, reader.predicateType, reader.predicate);
        } catch (IOException | IllegalArgumentException e) {
            throw new MalformedAttestationException("not an in-toto statement: " + e.getMessage(), e);
        }
    }

    /// Collects the fields of one statement.
    private static final class Reader {

        private final StrictJson json;
        private final Map<String, Hash> subjects = new LinkedHashMap<>();
        private final Map<String, String> predicate = new TreeMap<>();
        private String predicateType = "";
        private String name = "";
        private Hash digest = Hash.ZERO;

        Reader(StrictJson json) {
            this.json = json;
        }

        void field(String field) throws IOException, MalformedAttestationException {
            switch (field) {
                case "_type" -> {
                    if (!json.string().equals(TYPE)) {
                        throw new MalformedAttestationException("a statement of another type than " + TYPE);
                    }
                }
                case "subject" ->
                    json.objects(Set.of("name", "digest"), Set.of(), () -> {}, this::subjectField, this::subject);
                case "predicateType" -> predicateType = json.string();
                default -> json.anyFields(word -> predicate.put(word, json.string()));
            }
        }

        private void subjectField(String field) throws IOException, MalformedAttestationException {
            if (field.equals("name")) {
                name = json.string();
            } else {
                json.object(Set.of("sha256"), Set.of(), _ -> digest = hash(json.string()));
            }
        }

        private void subject() throws MalformedAttestationException {
            if (subjects.put(name, digest) != null) {
                throw new MalformedAttestationException("the subject '" + name + "' is there twice");
            }
        }

        private static Hash hash(String hex) throws MalformedAttestationException {
            Hash hash = Hash.ofHex(hex);
            if (!hash.toString().equals(hex)) {
                throw new MalformedAttestationException("a hash that is not in lower-case hex");
            }
            return hash;
        }
    }
}
