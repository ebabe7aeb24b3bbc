package blackbox.node.login;

import blackbox.node.access.Role;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Which identity provider people log in with, and what they may do here. Read from a JSON file:
/// `{"issuer", "clientId", "clientSecretFile"?, "redirectUri", "scope"?, "subjectClaim"?, "roleClaim", "roles",
/// "sessionMinutes"?}`.
///
/// @param issuer exactly as the provider names itself
/// @param clientSecret null for a public client
/// @param redirectUri the console's address, as it is registered with the provider
/// @param scope what is asked for
/// @param subjectClaim the claim that names people in the record of access
/// @param roleClaim the claim whose values `roles` has
/// @param roles what a value of that claim makes somebody; where several apply, the first
/// @param session how long a login lasts
public record OidcSettings(
        URI issuer,
        String clientId,
        @Nullable String clientSecret,
        URI redirectUri,
        String scope,
        String subjectClaim,
        String roleClaim,
        Map<String, Role> roles,
        Duration session) {
    private static final JsonMapper JSON = new JsonMapper();
    private static final Set<String> KNOWN = Set.of(
            "issuer",
            "clientId",
            "clientSecretFile",
            "redirectUri",
            "scope",
            "subjectClaim",
            "roleClaim",
            "roles",
            "sessionMinutes");
    private static final int MINUTES = 60;
    private static final int MINUTES_MAX = 24 * 60;

    public OidcSettings {
        // In the order in which they were written.
        roles = Collections.unmodifiableMap(new LinkedHashMap<>(roles));
    }

    /// Reads a file.
    ///
    /// @throws IOException if it cannot be read, or is not what it has to be; the message says what is wrong
    public static OidcSettings read(Path file) throws IOException {
        try {
            JsonNode said = JSON.readTree(Files.readAllBytes(file));
            if (!said.isObject()) {
                throw new IllegalArgumentException("it is no JSON object");
            }
            said.fieldNames().forEachRemaining(name -> {
                if (!KNOWN.contains(name)) {
                    throw new IllegalArgumentException("it has a field \"" + name + "\" that nobody knows");
                }
            });
            var roles = new LinkedHashMap<String, Role>();
            said.path("roles")
                    .properties()
                    .forEach(each ->
                            roles.put(each.getKey(), Role.ofWord(each.getValue().asText())));
            if (roles.isEmpty()) {
                throw new IllegalArgumentException("\"roles\" must say what at least one value of the claim may do");
            }
            int minutes = said.path("sessionMinutes").asInt(MINUTES);
            if (minutes < 1 || minutes > MINUTES_MAX) {
                throw new IllegalArgumentException("\"sessionMinutes\" must be from 1 to " + MINUTES_MAX);
            }
            return new OidcSettings(
                    secure(text(said, "issuer", null)),
                    text(said, "clientId", null),
                    secret(file, said),
                    secure(text(said, "redirectUri", null)),
                    text(said, "scope", "openid email"),
                    text(said, "subjectClaim", "email"),
                    text(said, "roleClaim", null),
                    roles,
                    Duration.ofMinutes(minutes));
        } catch (JsonProcessingException | IllegalArgumentException | URISyntaxException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    private static String text(JsonNode said, String name, @Nullable String otherwise) {
        JsonNode value = said.path(name);
        if (value.isMissingNode() && otherwise != null) {
            return otherwise;
        }
        if (!value.isTextual() || value.textValue().isBlank()) {
            throw new IllegalArgumentException("\"" + name + "\" must be a text");
        }
        return value.textValue();
    }

    private static @Nullable String secret(Path file, JsonNode said) throws IOException {
        if (said.path("clientSecretFile").isMissingNode()) {
            return null;
        }
        Path secret = file.toAbsolutePath().resolveSibling(text(said, "clientSecretFile", null));
        String text = Files.readString(secret).strip();
        if (text.isEmpty()) {
            throw new IllegalArgumentException(secret + " is empty");
        }
        return text;
    }

    /// An address that nobody on the way can read or change.
    static URI secure(String address) throws URISyntaxException {
        var uri = new URI(address);
        boolean secure = "https".equals(uri.getScheme()) || "http".equals(uri.getScheme()) && isLoopback(uri.getHost());
        if (!secure || uri.getHost() == null || uri.getUserInfo() != null || uri.getFragment() != null) {
            throw new IllegalArgumentException(
                    "'" + address + "' must be an https address (http only on this machine), without a user or a #");
        }
        return uri;
    }

    private static boolean isLoopback(@Nullable String host) {
        return "localhost".equals(host) || "127.0.0.1".equals(host) || "[::1]".equals(host);
    }

    /// Where one of the provider's documents is.
    URI wellKnown() {
        String base = issuer.toString();
        return URI.create((base.endsWith("/") ? base.substring(0, base.length() - 1) : base)
                + "/.well-known/openid-configuration");
    }

    @Override
    public String toString() {
        return "OidcSettings[" + issuer + ", " + clientId + "]"; // without the secret
    }
}
