package blackbox.node.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.console.Npm;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.node.access.ApiTokens;
import blackbox.node.access.Grant;
import blackbox.node.data.LocalTrust;
import blackbox.node.login.OidcLogin;
import blackbox.node.login.OidcSettings;
import blackbox.query.access.AccessEntries;
import blackbox.query.access.AccessEntry;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Logging in with an identity provider that is not ours, in Debian's Chromium.
@Timeout(240)
class LoginTest {
    private static final Path PICTURES = Path.of("target/pictures").toAbsolutePath();
    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");
    private static final String SECRET = "a secret of the client's";

    @TempDir
    Path folder;

    private final RunId run = RunId.create(START, new Random(7));
    private DataFolder data;
    private TestService service;
    private ApiServer server;
    private Process provider;

    @BeforeEach
    void start() throws Exception {
        data = new DataFolder(folder.resolve("data"));
        try (Spool spool = Spool.create(data.spool(), run)) {
            var key = Ed25519Key.create(run.origin(), new SecureRandom());
            var sealer = new RunSealer(run, key, spool, InstantSource.fixed(START));
            var header = EventHeader.host(START.getEpochSecond() * 1_000_000_000L);
            sealer.append(new Event.RunOpen(header, Text.of("first"), "{\"tier\":\"live\"}"));
            sealer.append(new Event.RunClose(header, 1, 0, 0, null, null));
            sealer.seal();
        }
        int port = freePort();
        int own = freePort();
        Files.writeString(folder.resolve("secret"), SECRET + "\n");
        Path settings = folder.resolve("oidc.json");
        Files.writeString(settings, """
                {"issuer": "http://127.0.0.1:%d", "clientId": "blackbox", "clientSecretFile": "secret",
                 "redirectUri": "http://127.0.0.1:%d/console", "scope": "openid email groups",
                 "roleClaim": "groups", "roles": {"admins": "admin", "auditors": "auditor"}, "sessionMinutes": 5}
                """.formatted(port, own));
        service = TestService.in(
                data,
                data,
                () -> new LocalTrust(data).believedKeys(),
                null,
                new OidcLogin(OidcSettings.read(settings)));
        server = ApiServer.start(
                service.context(), new ApiAddress("127.0.0.1", own, List.of(), ApiAddress.PATIENCE), null);
        Npm.install();
        provider = new ProcessBuilder("node", "src/test/js/provider.mjs", "" + port, server.uri() + "/console", SECRET)
                .directory(Npm.MODULE.toFile())
                .redirectError(folder.resolve("provider.err").toFile())
                .start();
        BufferedReader said = provider.inputReader();
        String line = said.readLine();
        while (line != null && !line.equals("ready")) {
            line = said.readLine();
        }
        assertEquals("ready", line, () -> read(folder.resolve("provider.err")));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static int freePort() throws Exception {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @AfterEach
    void stop() {
        provider.destroy();
        server.close();
        service.close();
    }

    private JsonNode login(String who) throws Exception {
        Files.createDirectories(PICTURES);
        return Npm.script("console.mjs", List.of("login", server.uri(), who, run, PICTURES))
                .getFirst();
    }

    @Test
    void whoHasARoleIsLetInAndOutAgain() throws Exception {
        JsonNode said = login("anna");
        assertEquals(
                server.uri() + "/console#/run/" + run + "?event=1",
                said.path("address").asText());
        assertEquals("", said.path("faults").asText(), said::toString);
        assertEquals(2, said.path("kept").size(), said::toString);
        assertEquals(200, said.path("ended").asInt());
        assertEquals(401, said.path("after").asInt(), "the token is refused after it was ended");
        assertTrue(said.path("stolen").asText().contains("not begun in this tab"), said::toString);
        assertFalse(said.path("stolenAddress").asText().contains("code="), said::toString);
        assertEquals(401, said.path("replayed").asInt(), "a code is good once");
        assertEquals(List.of(), Npm.texts(said.path("errors")));
        assertEquals(0, said.path("cookies").size(), said::toString);
        List<Grant> grants = ApiTokens.list(data);
        assertEquals(1, grants.size());
        assertEquals("anna@example.com", grants.getFirst().subject());
        assertEquals("auditor", grants.getFirst().role().word());
        assertEquals("revoked", grants.getFirst().state(Instant.now()));
        List<AccessEntry> entries = recorded();
        assertTrue(
                entries.stream()
                        .anyMatch(each -> each.what().equals("POST /login")
                                && "anna@example.com".equals(each.subject())
                                && Integer.valueOf(200).equals(each.status())),
                entries::toString);
        assertTrue(
                entries.stream().anyMatch(each -> each.what().equals("POST /login") && each.subject() == null),
                "the code that was tried again");
    }

    @Test
    void whoHasNoRoleOrNoNameIsNot() throws Exception {
        assertTrue(login("bert").path("faults").asText().contains("no value of the claim \"groups\" has a role"));
        assertTrue(login("carl").path("faults").asText().contains("has not verified the address"));
        assertEquals(List.of(), ApiTokens.list(data));
    }

    @Test
    void whatIsNoLoginIsRefused() throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            assertEquals(
                    401,
                    post(client, "{\"code\":\"made up\",\"verifier\":\"v\",\"nonce\":\"n\"}", null)
                            .statusCode());
            assertEquals(400, post(client, "{\"code\":\"made up\"}", null).statusCode());
            assertEquals(400, post(client, "no JSON", null).statusCode());
            String whole = "{\"code\":\"c\",\"verifier\":\"v\",\"nonce\":\"n\"}";
            assertEquals(403, post(client, whole, "http://evil.example").statusCode(), "another site's page");
            provider.destroy();
            provider.waitFor();
            assertEquals(502, post(client, whole, null).statusCode());
        }
    }

    /// Who tries tokens is seen beside a flood of logins.
    @Test
    void aFloodOfLoginsHidesNoOthers() throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            for (int i = 0; i < 25; i++) {
                assertEquals(400, post(client, "{}", null).statusCode());
            }
            var guess = HttpRequest.newBuilder(URI.create(server.uri() + "/api/v1/runs"))
                    .header("Authorization", "Bearer a guess")
                    .build();
            assertEquals(401, client.send(guess, BodyHandlers.ofString()).statusCode());
        }
        List<AccessEntry> entries = recorded();
        assertEquals(
                20,
                entries.stream()
                        .filter(each -> each.what().equals("POST /login"))
                        .count(),
                entries::toString);
        assertTrue(
                entries.stream().anyMatch(each -> each.what().equals("GET /api/v1/runs") && each.remote() != null),
                entries::toString);
        assertTrue(entries.stream().anyMatch(each -> each.count() == 5), entries::toString);
    }

    /// Ends the service, and reads its record.
    private List<AccessEntry> recorded() throws Exception {
        stop();
        var entries = new ArrayList<AccessEntry>();
        AccessEntries.read(new LocalTrust(data).recordings(), entries::add);
        return entries;
    }

    private HttpResponse<String> post(HttpClient client, String body, @Nullable String origin) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(server.uri() + "/login"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body));
        if (origin != null) {
            request.header("Origin", origin);
        }
        HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
        if (origin == null) {
            assertTrue(new ObjectMapper().readTree(answer.body()).has("detail"), answer::toString);
        }
        return answer;
    }
}
