package blackbox.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.cli.exit.ExitCodes;
import blackbox.files.Folders;
import blackbox.node.access.AccessLog;
import blackbox.node.access.ApiToken;
import blackbox.node.access.ApiTokens;
import blackbox.node.access.Caller;
import blackbox.schemas.folder.DataFolder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `blackbox token …` and `blackbox access` as a program calls them: output and exit codes.
class AccessCommandsTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path folder;

    private DataFolder data;

    @BeforeEach
    void folder() {
        data = new DataFolder(folder.resolve("data"));
    }

    private Ran run(String... arguments) {
        String[] all = new String[arguments.length + 2];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        all[arguments.length] = "--data";
        all[arguments.length + 1] = data.root().toString();
        return Ran.of(all);
    }

    private JsonNode json(String... arguments) throws Exception {
        Ran ran = run(arguments);
        assertEquals(ExitCodes.OK, ran.exitCode(), ran.err());
        return JSON.readTree(ran.out());
    }

    @Test
    void aTokenIsShownOnceListedAndRevoked() throws Exception {
        Ran made = run("token", "create", "anna", "--role", "auditor", "--for", "30d");
        assertEquals(ExitCodes.OK, made.exitCode(), made.err());
        String token = made.out().strip();
        assertTrue(token.matches("bbx_[0-9a-f]{8}_[A-Za-z0-9_-]{43}"), made.out());
        assertFalse(made.err().contains(token));
        JsonNode second = json("token", "create", "bot", "--role", "operator", "--json");
        assertTrue(
                second.path("token")
                        .asText()
                        .startsWith("bbx_" + second.path("id").asText()),
                second::toString);
        JsonNode listed = json("token", "list", "--json");
        assertEquals(2, listed.size());
        assertEquals("anna", listed.path(0).path("subject").asText());
        assertEquals("active", listed.path(0).path("state").asText());
        assertEquals(
                Duration.ofDays(30),
                Duration.between(
                        Instant.parse(listed.path(0).path("created").asText()),
                        Instant.parse(listed.path(0).path("expires").asText())));
        assertFalse(listed.toString().contains("bbx_")
                || Files.readString(data.apiTokens()).contains(token));
        assertEquals(1, json("token", "revoke", "anna", "--json").size());
        assertEquals(
                "revoked", json("token", "list", "--json").path(0).path("state").asText());
        assertEquals(ExitCodes.BAD_INPUT, run("token", "revoke", "anna").exitCode());
        assertTrue(run("token", "list").out().contains("operator"));
    }

    @Test
    void whatIsNoTokenIsRefused() {
        for (String[] each : new String[][] {
            {"token", "create", "anna", "--role", "king"},
            {"token", "create", "anna"},
            {"token", "create", "", "--role", "viewer"},
            {"token", "create", "owner", "--role", "viewer"},
            {"token", "create", "0a1b2c3d", "--role", "viewer"},
            {"token", "create", "a\nb", "--role", "viewer"},
            {"token", "create", "anna", "--role", "viewer", "--for", "99999d"},
            {"token", "create", "anna", "--role", "viewer", "--run", "none"}
        }) {
            assertEquals(ExitCodes.BAD_INPUT, run(each).exitCode(), String.join(" ", each));
        }
        assertFalse(Files.exists(data.apiTokens()));
    }

    @Test
    void whoAskedIsListed() throws Exception {
        Ran none = run("access");
        assertEquals(ExitCodes.OK, none.exitCode(), none.err());
        assertEquals("", none.out());
        Folders.createPrivate(data.root());
        var tokens = new ApiTokens(
                data, ApiToken.loadOrCreate(data.apiToken(), new SecureRandom()), InstantSource.system(), _ -> {});
        String anna = json("token", "create", "anna", "--role", "viewer", "--json")
                .path("token")
                .asText();
        Caller caller = tokens.recognise("Bearer " + anna);
        try (AccessLog log = AccessLog.open(data, tokens, _ -> {})) {
            long number = log.begin(new AccessLog.Request(
                    Objects.requireNonNull(caller), null, "GET /api/v1/runs", null, "/api/v1/runs"));
            log.end(number, 200, 12, true);
            log.begin(new AccessLog.Request(caller, null, "GET /api/v1/runs", null, "/api/v1/runs?x"));
        }
        assertTrue(run("access").out().contains("anna (viewer)  GET /api/v1/runs  → 200 12 octets"));
        Ran lines = run("access", "--subject", "anna", "--json");
        assertEquals(2, lines.out().lines().count(), lines.out());
        assertTrue(run("access").out().contains("→ no answer"));
        assertEquals("", run("access", "--subject", "bob").out());
        assertEquals("", run("runs").out());
        JsonNode run = json("runs", "--access", "--json").path(0);
        assertEquals("access", run.path("service").asText());
        assertTrue(run.path("lossKnown").asBoolean(), run::toString);
        String id = run.path("run").asText();
        JsonNode verified = json("verify", id, "--json");
        assertEquals("COMPLETE", verified.path("completeness").asText(), verified::toString);
        assertEquals(0, verified.path("findings").size(), verified::toString);
        assertEquals(ExitCodes.BAD_INPUT, run("show", "last").exitCode());
    }
}
