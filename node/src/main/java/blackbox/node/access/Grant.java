package blackbox.node.access;

import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A token that was made, without the token.
///
/// @param id names it; no secret
/// @param subject who it was made for, in the words of whoever made it
/// @param digest SHA-256 of the token
/// @param runs the only ones that it is for; null if it is for all
/// @param expires null if it does not
/// @param revoked when; null if it was not
/// @param issuer which identity provider its subject logged in with; null of a token that somebody made here
public record Grant(
        String id,
        String subject,
        Role role,
        Hash digest,
        @Nullable Set<RunId> runs,
        Instant created,
        @Nullable Instant expires,
        @Nullable Instant revoked,
        @Nullable String issuer) {

    private static final JsonMapper JSON = new JsonMapper();
    private static final Pattern ID = Pattern.compile("[0-9a-fA-F]{8}");
    private static final int SUBJECT_CHARS_MAX = 100;

    /// @throws IllegalArgumentException if the subject is empty, too long or not one printable line
    public Grant {
        if (subject.isBlank() || subject.length() > SUBJECT_CHARS_MAX || !subject.equals(subject.strip())) {
            throw new IllegalArgumentException(
                    "a subject has 1 to " + SUBJECT_CHARS_MAX + " characters, without blanks around them");
        }
        if (ID.matcher(subject).matches()) {
            throw new IllegalArgumentException("'" + subject + "' could be the id of a token");
        }
        if (subject.equals(ApiTokens.OWNER)) {
            throw new IllegalArgumentException("'" + ApiTokens.OWNER + "' is who has the data folder's own token");
        }
        if (subject.codePoints()
                .anyMatch(each -> Character.isISOControl(each) || Character.getType(each) == Character.FORMAT)) {
            throw new IllegalArgumentException("a subject has no control characters");
        }
        runs = runs == null ? null : Set.copyOf(runs);
    }

    /// Whether it can be used at a moment.
    public boolean isValid(Instant at) {
        return revoked == null && (expires == null || at.isBefore(expires));
    }

    /// `active`, `expired` or `revoked`.
    public String state(Instant at) {
        return revoked != null ? "revoked" : isValid(at) ? "active" : "expired";
    }

    Grant revoked(Instant at) {
        return new Grant(id, subject, role, digest, runs, created, expires, revoked == null ? at : revoked, issuer);
    }

    /// Who shows it.
    public Caller caller() {
        return new Caller(subject, role, id, runs);
    }

    /// What everybody may know of it.
    public ObjectNode toJson() {
        ObjectNode node = JSON.createObjectNode()
                .put("id", id)
                .put("subject", subject)
                .put("role", role.word())
                .put("created", created.toString())
                .put("expires", expires == null ? null : expires.toString())
                .put("revoked", revoked == null ? null : revoked.toString());
        if (issuer != null) {
            node.put("issuer", issuer);
        }
        if (runs != null) {
            var listed = node.putArray("runs");
            runs.stream().sorted().forEach(run -> listed.add(run.value()));
        }
        return node;
    }

    /// @throws IllegalArgumentException if it is none
    static Grant of(JsonNode node) {
        try {
            Set<RunId> runs = null;
            if (node.has("runs")) {
                runs = new LinkedHashSet<>();
                for (JsonNode run : node.path("runs")) {
                    runs.add(new RunId(run.asText()));
                }
            }
            return new Grant(
                    node.path("id").asText(),
                    node.path("subject").asText(),
                    Role.ofWord(node.path("role").asText()),
                    Hash.ofHex(node.path("sha256").asText()),
                    runs,
                    Instant.parse(node.path("created").asText()),
                    moment(node.path("expires")),
                    moment(node.path("revoked")),
                    node.path("issuer").textValue());
        } catch (DateTimeException e) {
            throw new IllegalArgumentException("a time in it is none", e);
        }
    }

    private static @Nullable Instant moment(JsonNode node) {
        return node.isTextual() ? Instant.parse(node.textValue()) : null;
    }
}
