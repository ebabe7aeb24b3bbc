package blackbox.replay.verdict;

import blackbox.replay.request.Difference;
import blackbox.schemas.RunId;
import blackbox.vault.Vault;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/// The octets in which a replay differs from its recording, in an encrypted file beside the run's other
/// payloads; see `schemas/replay.md`. The signed document has only digests: such octets may hold passwords.
public enum DifferingOctets {
    /// Of a request that the recording has no answer to.
    REQUEST("missed-"),
    /// Of what the command printed.
    OUTPUT("printed-");

    private static final int VERSION = 1;
    private static final int OCTETS_MAX = 4096;
    private static final JsonMapper JSON = new JsonMapper();

    private final String prefix;

    /// @param prefix of the file's name; the rest is the document's
    DifferingOctets(String prefix) {
        this.prefix = prefix;
    }

    /// Stores them for a verdict, whose document may be stored before or after.
    public void keep(Vault vault, Verdict verdict, Difference difference) throws IOException {
        ObjectNode json = JSON.createObjectNode().put("version", VERSION);
        json.put("at", difference.at()).put("from", difference.from());
        json.put("recorded", encoded(difference.recorded())).put("replayed", encoded(difference.replayed()));
        byte[] octets = (json + "\n").getBytes(StandardCharsets.UTF_8);
        vault.store(verdict.run(), name(VerdictStore.name(verdict)), octets);
    }

    /// The octets that belong to a document, or null if there are none.
    ///
    /// @param run the document's run
    /// @throws IOException also when they are not as they were stored, or were shredded
    public @Nullable Difference of(Vault vault, RunId run, Path document) throws IOException {
        String name = name(document.getFileName().toString());
        if (!vault.exists(run, name)) {
            return null;
        }
        byte[] octets;
        try (InputStream in = vault.stream(run, name)) {
            octets = in.readNBytes(OCTETS_MAX);
        }
        JsonNode json = JSON.readTree(octets);
        try {
            if (json.path("version").asInt() != VERSION) {
                throw new IllegalArgumentException("its version is not " + VERSION);
            }
            return new Difference(
                    json.path("at").asLong(-1),
                    json.path("from").asLong(-1),
                    decoded(json.path("recorded")),
                    decoded(json.path("replayed")));
        } catch (IllegalArgumentException e) {
            throw new IOException(vault.file(run, name) + " is damaged: " + e.getMessage(), e);
        }
    }

    private String name(String document) {
        return prefix + document.substring(0, document.lastIndexOf('.'));
    }

    private static String encoded(String octets) {
        return Base64.getEncoder().encodeToString(octets.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String decoded(JsonNode node) {
        return new String(Base64.getDecoder().decode(node.asText()), StandardCharsets.ISO_8859_1);
    }
}
