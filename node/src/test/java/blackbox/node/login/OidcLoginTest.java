package blackbox.node.login;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.node.access.Role;
import blackbox.node.login.OidcException.Why;
import blackbox.node.login.OidcLogin.Person;
import blackbox.node.login.OidcLogin.Redeemed;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A provider that says whatever it is told to say.
class OidcLoginTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Redeemed GOOD = new Redeemed("code", "verifier", "nonce");

    @TempDir
    Path folder;

    private final List<String> forms = new ArrayList<>();
    private final Map<String, Object> discovery = new LinkedHashMap<>();
    private final Map<String, Object> userInfo = new LinkedHashMap<>();
    private HttpServer server;
    private ECKey key;
    private String base;
    private Object idToken = "";
    private int status = 200;

    @BeforeEach
    void start() throws Exception {
        key = new ECKeyGenerator(Curve.P_256).keyID("one").generate();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        base = "http://127.0.0.1:" + server.getAddress().getPort();
        discovery.put("issuer", base);
        discovery.put("authorization_endpoint", base + "/authorize");
        discovery.put("token_endpoint", base + "/token");
        discovery.put("jwks_uri", base + "/keys");
        discovery.put("userinfo_endpoint", base + "/me");
        server.createContext("/.well-known/openid-configuration", exchange -> answer(exchange, 200, discovery));
        server.createContext("/keys", exchange -> answer(exchange, 200, new JWKSet(key.toPublicJWK()).toJSONObject()));
        server.createContext("/me", exchange -> answer(exchange, 200, userInfo));
        server.createContext("/token", exchange -> {
            forms.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            answer(
                    exchange,
                    status,
                    status == 200
                            ? Map.of("id_token", idToken, "access_token", "for more")
                            : Map.of("error", "invalid_grant"));
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private static void answer(HttpExchange exchange, int status, Object body) throws IOException {
        byte[] octets = JSON.writeValueAsBytes(body);
        exchange.sendResponseHeaders(status, octets.length);
        exchange.getResponseBody().write(octets);
        exchange.close();
    }

    private OidcSettings settings(String more) throws Exception {
        Path file = folder.resolve("oidc.json");
        Files.writeString(file, """
                {"issuer": "%s", "clientId": "blackbox", "redirectUri": "https://recorder.example/console",
                 "roleClaim": "groups", "roles": {"admins": "admin", "auditors": "auditor"}%s}
                """.formatted(base, more));
        return OidcSettings.read(file);
    }

    private Person redeem() throws Exception {
        return new OidcLogin(settings("")).redeem(GOOD);
    }

    private JWTClaimsSet claims(Consumer<JWTClaimsSet.Builder> change) {
        var claims = new JWTClaimsSet.Builder()
                .issuer(base)
                .audience("blackbox")
                .subject("1")
                .issueTime(Date.from(Instant.now()))
                .expirationTime(Date.from(Instant.now().plusSeconds(300)))
                .claim("nonce", "nonce")
                .claim("email", "anna@example.com")
                .claim("email_verified", true)
                .claim("groups", List.of("others", "auditors"));
        change.accept(claims);
        return claims.build();
    }

    private String signed(JWSAlgorithm algorithm, JWSSigner signer, JWTClaimsSet claims) throws Exception {
        var jwt = new SignedJWT(new JWSHeader.Builder(algorithm).keyID("one").build(), claims);
        jwt.sign(signer);
        return jwt.serialize();
    }

    private void says(Consumer<JWTClaimsSet.Builder> change) throws Exception {
        idToken = signed(JWSAlgorithm.ES256, new ECDSASigner(key), claims(change));
    }

    private void assertRefused(Why why, String words) {
        OidcException refused = assertThrows(OidcException.class, this::redeem);
        assertEquals(why, refused.why(), refused::toString);
        assertTrue(String.valueOf(refused.getMessage()).contains(words), refused::toString);
    }

    @Test
    void whoItIsIsWhatTheTokenSays() throws Exception {
        says(_ -> {});
        assertEquals(new Person("anna@example.com", Role.AUDITOR), redeem());
        String form = URLDecoder.decode(forms.getFirst(), StandardCharsets.UTF_8);
        for (String word : List.of(
                "grant_type=authorization_code",
                "code=code",
                "code_verifier=verifier",
                "client_id=blackbox",
                "redirect_uri=https://recorder.example/console")) {
            assertTrue(form.contains(word), form);
        }
        says(claims -> claims.claim("groups", List.of("auditors", "admins")));
        assertEquals(Role.ADMIN, redeem().role(), "the first in the settings");
        says(claims -> claims.claim("groups", "auditors"));
        assertEquals(Role.AUDITOR, redeem().role(), "a single value");
    }

    @Test
    void whatTheTokenDoesNotSayIsAskedFor() throws Exception {
        says(claims -> claims.claim("groups", null).claim("email", null).claim("email_verified", null));
        userInfo.putAll(
                Map.of("sub", "1", "email", "anna@example.com", "email_verified", true, "groups", List.of("admins")));
        assertEquals(new Person("anna@example.com", Role.ADMIN), redeem());
        userInfo.put("sub", "2");
        assertRefused(Why.PROVIDER, "does not answer about whoever logged in");
        userInfo.put("sub", "1");
        says(claims -> claims.claim("email", null));
        userInfo.put("groups", List.of("admins"));
        assertEquals(Role.AUDITOR, redeem().role(), "what is signed counts before what is only said");
    }

    @Test
    void aTokenThatDoesNotHoldIsRefused() throws Exception {
        says(claims -> claims.issuer("https://evil.example"));
        assertRefused(Why.REFUSED, "does not hold");
        says(claims -> claims.audience("another"));
        assertRefused(Why.REFUSED, "does not hold");
        says(claims -> claims.audience(List.of("blackbox", "another")));
        assertRefused(Why.REFUSED, "for another service");
        says(claims -> claims.claim("azp", "another"));
        assertRefused(Why.REFUSED, "for another service");
        says(claims -> claims.expirationTime(Date.from(Instant.now().minusSeconds(120))));
        assertRefused(Why.REFUSED, "does not hold");
        says(claims -> claims.claim("nonce", "another"));
        assertRefused(Why.REFUSED, "begun by somebody else");
        says(claims -> claims.claim("nonce", null));
        assertRefused(Why.REFUSED, "begun by somebody else");
        idToken = new PlainJWT(claims(_ -> {})).serialize();
        assertRefused(Why.REFUSED, "does not hold");
        idToken = signed(JWSAlgorithm.HS256, new MACSigner(key.toPublicJWK().toJSONString()), claims(_ -> {}));
        assertRefused(Why.REFUSED, "does not hold");
        idToken = signed(
                JWSAlgorithm.ES256,
                new ECDSASigner(new ECKeyGenerator(Curve.P_256).keyID("one").generate()),
                claims(_ -> {}));
        assertRefused(Why.REFUSED, "does not hold");
        idToken = "no token";
        assertRefused(Why.REFUSED, "does not hold");
    }

    @Test
    void whoeverHasNoRoleOrNoVerifiedAddressIsRefused() throws Exception {
        says(claims -> claims.claim("groups", List.of("others")));
        assertRefused(Why.NO_ROLE, "has a role in this service");
        says(claims -> claims.claim("email_verified", false));
        assertRefused(Why.NO_ROLE, "has not verified the address");
        says(claims -> claims.claim("email_verified", null));
        assertRefused(Why.NO_ROLE, "has not verified the address");
        says(claims -> claims.claim("email", 7));
        assertRefused(Why.PROVIDER, "another type");
    }

    @Test
    void aProviderThatDoesNotSpeakTheProtocolIsNotBelieved() throws Exception {
        says(_ -> {});
        status = 400;
        assertRefused(Why.REFUSED, "invalid_grant");
        status = 500;
        assertRefused(Why.PROVIDER, "invalid_grant");
        status = 200;
        idToken = 7;
        assertRefused(Why.PROVIDER, "no ID token");
        discovery.put("token_endpoint", "http://evil.example/token");
        assertRefused(Why.PROVIDER, "token_endpoint");
        discovery.put("issuer", base + "/other");
        assertRefused(Why.PROVIDER, "another issuer");
        server.stop(0);
        assertRefused(Why.PROVIDER, "does not answer");
    }

    @Test
    void settingsThatCannotBeAreRefusedWithAReason() throws Exception {
        assertEquals(Role.AUDITOR, settings("").roles().get("auditors"));
        for (Map.Entry<String, String> each : Map.of(
                        ", \"sessionMinutes\": 0", "from 1 to",
                        ", \"secret\": \"x\"", "nobody knows",
                        ", \"clientSecretFile\": \"empty\"", "is empty",
                        ", \"roles\": {}", "at least one",
                        ", \"roles\": {\"a\": \"king\"}", "no role 'king'",
                        ", \"redirectUri\": \"http://recorder.example/console\"", "https",
                        ", \"issuer\": \"https://user@idp.example\"", "without a user")
                .entrySet()) {
            Files.writeString(folder.resolve("empty"), "\n");
            IOException refused = assertThrows(IOException.class, () -> settings(each.getKey()), each.getKey());
            assertTrue(String.valueOf(refused.getMessage()).contains(each.getValue()), refused::toString);
        }
    }
}
