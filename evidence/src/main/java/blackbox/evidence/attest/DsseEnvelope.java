package blackbox.evidence.attest;

import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.NoteVerifier;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Octets with signatures over them and over their type (DSSE 1.0.0).
///
/// A signature is over [#pae], which no note begins like and which, for JSON, does not end in a newline: no
/// signature on a note can pass for one on an envelope, although the same keys make both.
public record DsseEnvelope(String payloadType, byte[] payload, List<Signature> signatures) {

    /// Longest envelope that is read, in octets.
    public static final int OCTETS_MAX = 16 << 20;

    private static final int SIGNATURES_MAX = 16;

    /// A signature, and a hint at the key that made it, ours being `<name>+<key id>`. Nothing signs the hint.
    public record Signature(@Nullable String keyId, byte[] octets) {}

    public DsseEnvelope {
        signatures = List.copyOf(signatures);
        if (payloadType.isEmpty() || signatures.isEmpty() || signatures.size() > SIGNATURES_MAX) {
            throw new IllegalArgumentException(
                    "an envelope has a type and 1 to 16 signatures, not " + signatures.size());
        }
    }

    /// Signs `payload` with each of `signers`.
    public static DsseEnvelope sign(String payloadType, byte[] payload, List<? extends NoteSigner> signers) {
        byte[] message = pae(payloadType, payload);
        List<Signature> signatures = signers.stream()
                .map(signer -> new Signature(keyId(signer.verifier()), signer.sign(message)))
                .toList();
        return new DsseEnvelope(payloadType, payload.clone(), signatures);
    }

    /// What is signed (the specification's pre-authentication encoding).
    public static byte[] pae(String payloadType, byte[] payload) {
        byte[] type = payloadType.getBytes(StandardCharsets.UTF_8);
        var message = new ByteArrayOutputStream();
        message.writeBytes(ascii("DSSEv1 " + type.length + " "));
        message.writeBytes(type);
        message.writeBytes(ascii(" " + payload.length + " "));
        message.writeBytes(payload);
        return message.toByteArray();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static String keyId(NoteVerifier verifier) {
        return verifier.name() + "+" + String.format("%08x", verifier.keyId());
    }

    /// Those of `verifiers` that signed the envelope.
    ///
    /// Empty if none did, or if a signature claims to be a known key's and is not: such an envelope must not
    /// be accepted, whatever the other signatures say. A signature without a hint is tried with every key.
    public List<NoteVerifier> signers(Collection<? extends NoteVerifier> verifiers) {
        byte[] message = pae(payloadType, payload);
        var found = new ArrayList<NoteVerifier>();
        for (Signature signature : signatures) {
            for (NoteVerifier verifier : verifiers) {
                String named = signature.keyId();
                if (named != null && !named.equals(keyId(verifier))) {
                    continue;
                }
                boolean holds = verifier.verify(message, signature.octets());
                if (!holds && named != null) {
                    return List.of();
                }
                if (holds && !found.contains(verifier)) {
                    found.add(verifier);
                }
            }
        }
        return found;
    }

    /// The envelope as JSON, in the only form that we write: no spaces, no newline, standard base64.
    public byte[] toJson() {
        Base64.Encoder base64 = Base64.getEncoder();
        return StrictJson.write(out -> {
            out.writeStartObject();
            out.writeStringField("payload", base64.encodeToString(payload));
            out.writeStringField("payloadType", payloadType);
            out.writeArrayFieldStart("signatures");
            for (Signature signature : signatures) {
                out.writeStartObject();
                if (signature.keyId() != null) {
                    out.writeStringField("keyid", signature.keyId());
                }
                out.writeStringField("sig", base64.encodeToString(signature.octets()));
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeEndObject();
        });
    }

    /// Reads an envelope from anyone, with standard or URL-safe base64, as DSSE requires of readers.
    ///
    /// @throws MalformedAttestationException when it is not one, or has duplicate or unknown fields
    public static DsseEnvelope parse(byte[] octets) throws MalformedAttestationException {
        if (octets.length > OCTETS_MAX) {
            throw new MalformedAttestationException(
                    "an envelope of " + octets.length + " octets is longer than the " + OCTETS_MAX + " that are read");
        }
        try (StrictJson json = StrictJson.of(octets)) {
            var reader = new Reader(json);
            json.object(Set.of("payload", "payloadType", "signatures"), Set.of(), reader::field);
            json.end();
            return new DsseEnvelope(reader.payloadType, reader.payload, reader.signatures);
        } catch (IOException | IllegalArgumentException e) {
            throw new MalformedAttestationException("not a DSSE envelope: " + e.getMessage(), e);
        }
    }

    /// Reads an envelope that [#toJson] wrote, and no other: any changed octet is detected, even if no
    /// signature covers it.
    ///
    /// @throws MalformedAttestationException when it is not one, or is written in another form
    public static DsseEnvelope parseOwn(byte[] octets) throws MalformedAttestationException {
        DsseEnvelope envelope = parse(octets);
        if (!Arrays.equals(envelope.toJson(), octets)) {
            throw new MalformedAttestationException("the envelope is not in the form in which Blackbox writes it");
        }
        return envelope;
    }

    /// Collects the fields of one envelope.
    private static final class Reader {

        private final StrictJson json;
        private String payloadType = "";
        private byte[] payload = {};
        private final List<Signature> signatures = new ArrayList<>();
        private @Nullable String keyId;
        private byte[] signature = {};

        Reader(StrictJson json) {
            this.json = json;
        }

        void field(String name) throws IOException, MalformedAttestationException {
            switch (name) {
                case "payload" -> payload = base64(json.string());
                case "payloadType" -> payloadType = json.string();
                default ->
                    json.objects(
                            Set.of("sig"),
                            Set.of("keyid"),
                            () -> keyId = null,
                            this::signatureField,
                            () -> signatures.add(new Signature(keyId, signature)));
            }
        }

        private void signatureField(String name) throws IOException, MalformedAttestationException {
            if (name.equals("sig")) {
                signature = base64(json.string());
            } else {
                keyId = json.string();
            }
        }

        /// Either alphabet, with padding and nothing else, so that each value has one text.
        private static byte[] base64(String text) throws MalformedAttestationException {
            boolean urlSafe = text.indexOf('-') >= 0 || text.indexOf('_') >= 0;
            byte[] octets = urlSafe
                    ? Base64.getUrlDecoder().decode(text)
                    : Base64.getDecoder().decode(text);
            String again = urlSafe
                    ? Base64.getUrlEncoder().encodeToString(octets)
                    : Base64.getEncoder().encodeToString(octets);
            if (!again.equals(text)) {
                throw new MalformedAttestationException("base64 that is not in canonical form");
            }
            return octets;
        }
    }
}
