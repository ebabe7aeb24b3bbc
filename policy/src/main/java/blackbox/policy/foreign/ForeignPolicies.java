package blackbox.policy.foreign;

import blackbox.policy.foreign.ForeignList.Entry;
import blackbox.policy.text.PolicyException;
import blackbox.policy.text.PolicyReader;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Turns other sandboxes' lists into policies.
public final class ForeignPolicies {

    /// The longest file that is read.
    public static final int OCTETS_MAX = PolicyReader.OCTETS_MAX;

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    private static final TomlMapper TOML = TomlMapper.builder().build();

    private ForeignPolicies() {}

    /// Whose configuration a file seems to be.
    ///
    /// @throws IllegalArgumentException with a sentence when it is nobody's that is known here
    public static Origin origin(byte[] octets) {
        JsonNode json = tree(octets, Origin.SANDBOX_RUNTIME);
        if (json != null && json.isObject()) {
            return Origin.SANDBOX_RUNTIME;
        }
        if (tree(octets, Origin.JCARD) != null) {
            return Origin.JCARD;
        }
        throw new IllegalArgumentException(
                "it is neither JSON (settings of sandbox-runtime) nor TOML (a jcard.toml); name its format with "
                        + "--from to see why");
    }

    /// The policy that says the same, as YAML that [PolicyReader] reads.
    ///
    /// @throws IllegalArgumentException with a sentence that says what of the file no policy can say
    public static String policy(byte[] octets, Origin origin) {
        ForeignList list = switch (origin) {
            case SANDBOX_RUNTIME -> SandboxRuntime.read(parsed(octets, origin));
            case JCARD -> Jcard.read(parsed(octets, origin));
        };
        String text = text(list);
        try {
            PolicyReader.read(text.getBytes(StandardCharsets.UTF_8));
        } catch (PolicyException e) {
            throw new IllegalArgumentException(
                    "what it says is no policy: "
                            + e.problems().stream()
                                    .map(problem -> problem.what())
                                    .collect(Collectors.joining("; ")),
                    e);
        }
        return text;
    }

    private static @Nullable JsonNode tree(byte[] octets, Origin origin) {
        try {
            return read(octets, origin);
        } catch (IOException _) {
            return null;
        }
    }

    private static JsonNode parsed(byte[] octets, Origin origin) {
        try {
            return read(octets, origin);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(
                    "line " + e.getLocation().getLineNr() + " is no " + (origin == Origin.JCARD ? "TOML" : "JSON")
                            + ": " + e.getOriginalMessage(),
                    e);
        } catch (IOException e) {
            throw new IllegalArgumentException("it cannot be read: " + e.getMessage(), e);
        }
    }

    private static JsonNode read(byte[] octets, Origin origin) throws IOException {
        if (octets.length > OCTETS_MAX) {
            throw new IllegalArgumentException("it is longer than " + OCTETS_MAX + " octets");
        }
        return origin == Origin.JCARD ? TOML.readTree(octets) : JSON.readTree(octets);
    }

    private static String text(ForeignList list) {
        var text = new StringBuilder("# Imported from a file of ")
                .append(list.origin().word())
                .append('\n');
        list.notes().forEach(note -> text.append("# ").append(note).append('\n'));
        text.append("version: 1\nmode: enforce\n");
        entries(text, "rules", distinct(list.allowed()), true);
        entries(text, "deny", distinct(list.denied()), false);
        return text.toString();
    }

    /// Without those that say the same as an earlier one.
    private static List<Entry> distinct(List<Entry> entries) {
        var kept = new ArrayList<Entry>();
        for (Entry entry : entries) {
            if (kept.stream()
                    .noneMatch(other -> other.key().equals(entry.key())
                            && other.value().equals(entry.value())
                            && other.ports().equals(entry.ports()))) {
                kept.add(entry);
            }
        }
        return kept;
    }

    private static void entries(StringBuilder text, String key, List<Entry> entries, boolean named) {
        if (entries.isEmpty()) {
            return;
        }
        text.append(key).append(":\n");
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            String value = '"' + entry.value() + '"';
            text.append("  - {")
                    .append(named ? "id: r" + (i + 1) + ", " : "")
                    .append(entry.key())
                    .append(": ")
                    .append(entry.key().equals("address") ? "[" + value + "]" : value)
                    .append(", ports: [")
                    .append(entry.ports())
                    .append("]}\n");
        }
    }
}
