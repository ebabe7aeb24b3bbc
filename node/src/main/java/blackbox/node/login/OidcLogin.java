package blackbox.node.login;

import blackbox.node.access.Role;
import blackbox.node.login.OidcException.Why;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.text.ParseException;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Logs people in by OpenID Connect: the authorization code flow with PKCE (RFC 7636), begun by a browser, which sends
/// what it got here. Safe to use from several threads.
public final class OidcLogin {
    private static final JsonMapper JSON = new JsonMapper();
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int OCTETS_MAX = 256 << 10;
    private static final int CLOCK_SKEW_S = 60;
    private static final long KNOWN_NS = Duration.ofMinutes(5).toNanos();
    private static final String EMAIL = "email";
    private static final String VERIFIED = "email_verified";

    /// Signatures by keys of the provider's; none with a shared secret, and never `none`.
    private static final Set<JWSAlgorithm> ALGORITHMS = Set.of(
            JWSAlgorithm.RS256,
            JWSAlgorithm.RS384,
            JWSAlgorithm.RS512,
            JWSAlgorithm.PS256,
            JWSAlgorithm.PS384,
            JWSAlgorithm.PS512,
            JWSAlgorithm.ES256,
            JWSAlgorithm.ES384,
            JWSAlgorithm.ES512);

    private final OidcSettings settings;
    private final HttpClient http = HttpClient.newBuilder()
            .connectTimeout(PATIENCE)
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();

    private volatile @Nullable Known known;

    public OidcLogin(OidcSettings settings) {
        this.settings = settings;
    }

    /// What the provider says of itself, as far as it is needed.
    private record Provider(
            URI authorization,
            URI token,
            URI keys,
            @Nullable URI userInfo) {}

    private record Known(Provider provider, long sinceNs) {}

    /// @param access for what the provider says of people elsewhere than in the ID token; null if there is none
    private record Tokens(String id, @Nullable String access) {}

    /// What a browser needs to send somebody to the provider.
    ///
    /// @param authorization where to
    public record Begin(URI authorization, String clientId, String scope, URI redirectUri) {}

    /// What a browser came back with.
    ///
    /// @param code from the provider
    /// @param verifier whose digest went to the provider before (RFC 7636)
    /// @param nonce which went to the provider before
    public record Redeemed(String code, String verifier, String nonce) {}

    /// Who it is.
    public record Person(String subject, Role role) {}

    public OidcSettings settings() {
        return settings;
    }

    /// What a browser needs to begin.
    ///
    /// @throws OidcException `PROVIDER`
    public Begin begin() throws OidcException, InterruptedException {
        return new Begin(provider().authorization(), settings.clientId(), settings.scope(), settings.redirectUri());
    }

    /// Who has a code.
    ///
    /// @throws OidcException if nobody is logged in by it
    public Person redeem(Redeemed given) throws OidcException, InterruptedException {
        Provider provider = provider();
        Tokens tokens = tokens(provider, given);
        JWTClaimsSet claims = claims(tokens.id(), provider);
        try {
            String nonce = claims.getStringClaim("nonce");
            if (nonce == null
                    || !MessageDigest.isEqual(
                            nonce.getBytes(StandardCharsets.UTF_8),
                            given.nonce().getBytes(StandardCharsets.UTF_8))) {
                throw new OidcException(Why.REFUSED, "this login was begun by somebody else");
            }
            List<String> audience = claims.getAudience();
            String party = claims.getStringClaim("azp");
            if ((audience.size() > 1 || party != null) && !settings.clientId().equals(party)) {
                throw new OidcException(Why.REFUSED, "this login is for another service");
            }
            JWTClaimsSet all = more(claims, provider, tokens.access());
            return new Person(subject(all), role(all));
        } catch (ParseException e) {
            throw new OidcException(Why.PROVIDER, "the identity provider's token has a claim of another type", e);
        }
    }

    /// With what the provider says only to whoever asks for it, where the ID token does not say it all.
    private JWTClaimsSet more(JWTClaimsSet claims, Provider provider, @Nullable String access)
            throws OidcException, ParseException, InterruptedException {
        boolean isAll = claims.getClaims().keySet().containsAll(List.of(settings.subjectClaim(), settings.roleClaim()));
        URI place = provider.userInfo();
        if (isAll || place == null || access == null) {
            return claims;
        }
        Answer answer = send(HttpRequest.newBuilder(place)
                .timeout(PATIENCE)
                .header("Accept", "application/json")
                .header("Authorization", "Bearer " + access)
                .build());
        JWTClaimsSet told = JWTClaimsSet.parse(json(answer.octets(), place).toString());
        if (answer.status() != 200 || !Objects.equals(told.getSubject(), claims.getSubject())) {
            throw new OidcException(Why.PROVIDER, place + " does not answer about whoever logged in");
        }
        var all = new JWTClaimsSet.Builder(claims);
        told.getClaims().forEach((name, value) -> {
            if (claims.getClaim(name) == null) {
                all.claim(name, value);
            }
        });
        if (claims.getClaim(EMAIL) == null || claims.getClaim(VERIFIED) == null) {
            // What one document says of an address is not about the other's.
            all.claim(EMAIL, told.getClaim(EMAIL)).claim(VERIFIED, told.getClaim(VERIFIED));
        }
        return all.build();
    }

    private String subject(JWTClaimsSet claims) throws OidcException, ParseException {
        String name = settings.subjectClaim();
        String subject = claims.getStringClaim(name);
        if (subject == null || subject.isBlank()) {
            throw new OidcException(Why.PROVIDER, "the identity provider's token has no claim \"" + name + "\"");
        }
        // Anybody may call themselves whatever they like before somebody has looked.
        Object verified = claims.getClaim(VERIFIED);
        if (name.equals(EMAIL) && !Boolean.TRUE.equals(verified) && !"true".equals(verified)) {
            throw new OidcException(Why.NO_ROLE, "the identity provider has not verified the address " + subject);
        }
        return subject;
    }

    private Role role(JWTClaimsSet claims) throws OidcException {
        Object said = claims.getClaim(settings.roleClaim());
        List<?> values = said instanceof List<?> list ? list : said == null ? List.of() : List.of(said);
        for (Map.Entry<String, Role> each : settings.roles().entrySet()) {
            if (values.contains(each.getKey())) {
                return each.getValue();
            }
        }
        throw new OidcException(
                Why.NO_ROLE, "no value of the claim \"" + settings.roleClaim() + "\" has a role in this service");
    }

    private JWTClaimsSet claims(String token, Provider provider) throws OidcException, InterruptedException {
        byte[] keys = get(provider.keys());
        try {
            var set = new ImmutableJWKSet<SecurityContext>(JWKSet.parse(new String(keys, StandardCharsets.UTF_8)));
            var processor = new DefaultJWTProcessor<SecurityContext>();
            processor.setJWSKeySelector(new JWSVerificationKeySelector<>(ALGORITHMS, set));
            var verifier = new DefaultJWTClaimsVerifier<SecurityContext>(
                    settings.clientId(),
                    new JWTClaimsSet.Builder()
                            .issuer(settings.issuer().toString())
                            .build(),
                    Set.of("sub", "iat", "exp"));
            verifier.setMaxClockSkew(CLOCK_SKEW_S);
            processor.setJWTClaimsSetVerifier(verifier);
            return processor.process(token, null);
        } catch (ParseException | BadJOSEException | JOSEException e) {
            throw new OidcException(Why.REFUSED, "the identity provider's token does not hold: " + e.getMessage(), e);
        }
    }

    private Tokens tokens(Provider provider, Redeemed given) throws OidcException, InterruptedException {
        var form = new TreeMap<>(Map.of(
                "grant_type",
                "authorization_code",
                "code",
                given.code(),
                "code_verifier",
                given.verifier(),
                "redirect_uri",
                settings.redirectUri().toString()));
        HttpRequest.Builder request = HttpRequest.newBuilder(provider.token())
                .timeout(PATIENCE)
                .header("Accept", "application/json")
                .header("Content-Type", "application/x-www-form-urlencoded");
        String secret = settings.clientSecret();
        if (secret == null) {
            form.put("client_id", settings.clientId());
        } else {
            String both = encoded(settings.clientId()) + ":" + encoded(secret);
            request.header(
                    "Authorization",
                    "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8)));
        }
        String body = form.entrySet().stream()
                .map(each -> each.getKey() + "=" + encoded(each.getValue()))
                .collect(Collectors.joining("&"));
        Answer answer =
                send(request.POST(HttpRequest.BodyPublishers.ofString(body)).build());
        JsonNode said = json(answer.octets(), provider.token());
        if (answer.status() != 200) {
            String why = said.path("error").asText("status " + answer.status());
            throw new OidcException(
                    answer.status() == 400 ? Why.REFUSED : Why.PROVIDER,
                    "the identity provider does not take this code: " + why.substring(0, Math.min(100, why.length())));
        }
        String token = said.path("id_token").textValue();
        if (token == null) {
            throw new OidcException(Why.PROVIDER, "the identity provider gave no ID token");
        }
        return new Tokens(token, said.path("access_token").textValue());
    }

    /// What it said within the last minutes, or says now.
    private Provider provider() throws OidcException, InterruptedException {
        Known before = known;
        if (before != null && System.nanoTime() - before.sinceNs() < KNOWN_NS) {
            return before.provider();
        }
        Provider provider = ask();
        known = new Known(provider, System.nanoTime());
        return provider;
    }

    private Provider ask() throws OidcException, InterruptedException {
        URI place = settings.wellKnown();
        JsonNode said = json(get(place), place);
        if (!settings.issuer().toString().equals(said.path("issuer").textValue())) {
            throw new OidcException(Why.PROVIDER, place + " is of another issuer");
        }
        return new Provider(
                endpoint(said, "authorization_endpoint"),
                endpoint(said, "token_endpoint"),
                endpoint(said, "jwks_uri"),
                said.has("userinfo_endpoint") ? endpoint(said, "userinfo_endpoint") : null);
    }

    private static URI endpoint(JsonNode said, String name) throws OidcException {
        try {
            return OidcSettings.secure(said.path(name).asText());
        } catch (IllegalArgumentException | URISyntaxException e) {
            throw new OidcException(Why.PROVIDER, "the identity provider's " + name + ": " + e.getMessage(), e);
        }
    }

    private byte[] get(URI place) throws OidcException, InterruptedException {
        Answer answer = send(HttpRequest.newBuilder(place)
                .timeout(PATIENCE)
                .header("Accept", "application/json")
                .build());
        if (answer.status() != 200) {
            throw new OidcException(Why.PROVIDER, place + " answers with status " + answer.status());
        }
        return answer.octets();
    }

    private record Answer(int status, byte[] octets) {}

    private Answer send(HttpRequest request) throws OidcException, InterruptedException {
        var underway = http.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), OCTETS_MAX));
        try {
            HttpResponse<byte[]> answer = underway.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            return new Answer(answer.statusCode(), answer.body());
        } catch (ExecutionException | TimeoutException e) {
            String why = e.getCause() == null
                    ? "it takes too long"
                    : String.valueOf(e.getCause().getMessage());
            throw new OidcException(Why.PROVIDER, request.uri() + " does not answer: " + why, e);
        } finally {
            underway.cancel(true);
        }
    }

    private static JsonNode json(byte[] octets, URI place) throws OidcException {
        try {
            @Nullable JsonNode said = JSON.readTree(octets);
            if (said != null && said.isObject()) {
                return said;
            }
        } catch (JsonProcessingException e) {
            throw new OidcException(Why.PROVIDER, place + " answers with something else than JSON", e);
        } catch (IOException e) {
            throw new IllegalStateException(e); // of an array
        }
        throw new OidcException(Why.PROVIDER, place + " answers with something else than a JSON object");
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
