package blackbox.replay.verdict;

import blackbox.files.AtomicFiles;
import blackbox.replay.cassette.Difference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The octets in which a replay's request differs from the recorded one, in a file of the owner's beside the verdict's
/// document, `<time>.octets`; see `schemas/replay.md`. The signed document has only their digests: requests may hold
/// passwords.
///
/// @param file which has them
public record MissedOctets(Path file, Difference difference) {
    private static final int VERSION = 1;
    private static final int OCTETS_MAX = 4096;
    private static final String ENDING = ".octets";
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");
    private static final JsonMapper JSON = new JsonMapper();

    /// Stores them for a verdict, whose document may be stored before or after.
    ///
    /// @param data the data folder
    public static void keep(Path data, Verdict verdict, Difference difference) throws IOException {
        ObjectNode json = JSON.createObjectNode().put("version", VERSION);
        json.put("at", difference.at()).put("from", difference.from());
        json.put("recorded", encoded(difference.recorded())).put("replayed", encoded(difference.replayed()));
        Path document = new VerdictStore(data).place(verdict);
        byte[] octets = (json + "\n").getBytes(StandardCharsets.UTF_8);
        AtomicFiles.onDisk().replace(beside(document), octets, OWNER_ONLY);
    }

    /// Those of a document, or null if there are none.
    ///
    /// @throws IOException also when they are not as they were stored
    public static @Nullable MissedOctets of(Path document) throws IOException {
        Path file = beside(document);
        byte[] octets = AtomicFiles.onDisk().read(file, OCTETS_MAX);
        if (octets == null) {
            return null;
        }
        JsonNode json = JSON.readTree(octets);
        try {
            if (json.path("version").asInt() != VERSION) {
                throw new IllegalArgumentException("its version is not " + VERSION);
            }
            return new MissedOctets(
                    file,
                    new Difference(
                            json.path("at").asLong(-1),
                            json.path("from").asLong(-1),
                            decoded(json.path("recorded")),
                            decoded(json.path("replayed"))));
        } catch (IllegalArgumentException e) {
            throw new IOException(file + " is damaged: " + e.getMessage(), e);
        }
    }

    private static Path beside(Path document) {
        String name = document.getFileName().toString();
        return document.resolveSibling(name.substring(0, name.lastIndexOf('.')) + ENDING);
    }

    private static String encoded(String octets) {
        return Base64.getEncoder().encodeToString(octets.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String decoded(JsonNode node) {
        return new String(Base64.getDecoder().decode(node.asText()), StandardCharsets.ISO_8859_1);
    }
}
