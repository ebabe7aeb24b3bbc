package blackbox.node.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.console.Npm;
import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.verify.Verification;
import blackbox.ingest.table.CatalogView;
import blackbox.node.access.ApiTokens;
import blackbox.node.access.Grant;
import blackbox.node.access.Role;
import blackbox.node.data.LocalTrust;
import blackbox.query.access.AccessEntries;
import blackbox.query.access.AccessEntry;
import blackbox.query.run.RunFacts;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.RunLock;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Who may ask the service what, and that nothing is answered that is not in its record.
@Timeout(120)
class AccessRecordTest {
    private static final Path PICTURES = Path.of("target/pictures").toAbsolutePath();
    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");

    @TempDir
    Path folder;

    private final HttpClient client = HttpClient.newHttpClient();
    private final RunId run = RunId.create(START, new Random(7));
    private final RunId other = RunId.create(START.minusSeconds(60), new Random(8));
    private DataFolder data;
    private TestService service;
    private ApiServer server;

    @BeforeEach
    void start() throws Exception {
        data = new DataFolder(folder);
        record(other, "other", true);
        record(run, "first", true);
        service = TestService.in(data, data, () -> new LocalTrust(data).believedKeys(), null);
        server = ApiServer.start(service.context(), ApiServerTest.LOOPBACK, null);
    }

    private void record(RunId id, String name, boolean closes) throws Exception {
        try (Spool spool = Spool.create(data.spool(), id)) {
            var key = Ed25519Key.create(id.origin(), new SecureRandom());
            var sealer = new RunSealer(id, key, spool, InstantSource.fixed(START));
            var header = EventHeader.host(START.getEpochSecond() * 1_000_000_000L);
            sealer.append(new Event.RunOpen(header, Text.of(name), "{\"tier\":\"live\"}"));
            if (closes) {
                sealer.append(new Event.RunClose(header, 1, 0, 0, null, null));
            }
            sealer.seal();
        }
    }

    @AfterEach
    void stop() {
        server.close();
        service.close();
        client.close();
    }

    private HttpResponse<String> call(String token, String path) throws Exception {
        return call(token, "GET", path, null);
    }

    private HttpResponse<String> call(String token, String method, String path, @Nullable String body)
            throws Exception {
        var request = HttpRequest.newBuilder(URI.create(server.uri() + path))
                .header("Authorization", "Bearer " + token)
                .timeout(Duration.ofSeconds(20))
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }

    private String token(String subject, Role role, @Nullable Set<RunId> only) throws Exception {
        return ApiTokens.create(data, subject, role, only, Duration.ofHours(1)).token();
    }

    /// Ends the service, and reads its record.
    private List<AccessEntry> recorded() throws Exception {
        stop();
        var entries = new ArrayList<AccessEntry>();
        AccessEntries.read(new LocalTrust(data).recordings(), entries::add);
        entries.sort(Comparator.comparingLong(AccessEntry::index));
        return entries;
    }

    @Test
    void eachRoleMayDoWhatItsTableSays() throws Exception {
        String looks = "RUNS RUN VERIFICATION LOGOUT OPEN_API METRICS";
        String reads =
                looks + " TOUCHED EVIDENCE EVENTS OUTPUT VERDICTS REPLAYS REPLAY WHY CAUSED ACCESS TABLES SQL MCP";
        String stops = reads + " PAUSE RESUME KILL START_REPLAY ASK_LANDING CANCEL_REPLAY";
        assertMay(Role.VIEWER, looks);
        assertMay(Role.AUDITOR, reads);
        assertMay(Role.APPROVER, reads);
        assertMay(Role.OPERATOR, stops);
        assertMay(Role.ADMIN, stops);
    }

    private void assertMay(Role role, String routes) throws Exception {
        String token = token(role.word(), role, null);
        for (ApiRoute route : ApiRoute.values()) {
            String method = route.method().name();
            boolean posts = method.equals("POST");
            String path = route.path()
                    .replace("{run}", "last")
                    .replace("{index}", "0")
                    .replace("{call}", "0")
                    .replace("{replay}", "0");
            int status = call(token, method, path, posts ? "{\"reason\":\"a test\"}" : null)
                    .statusCode();
            boolean may = List.of(routes.split(" ")).contains(route.name());
            assertEquals(!may, status == 403, role + " " + route + " " + status);
            assertFalse(status == 401 || status >= 500, role + " " + route + " " + status);
        }
    }

    @Test
    void whoMayReadLearnsWhoAskedWhat() throws Exception {
        String anna = token("anna", Role.AUDITOR, null);
        assertEquals(200, call(anna, "/api/v1/runs/last").statusCode());
        assertEquals(200, call(service.token(), "/api/v1/runs").statusCode());
        JsonNode all = json(call(anna, "/api/v1/access"));
        assertEquals(
                "GET /api/v1/access", all.path("entries").get(0).path("what").asText(), "this request itself");
        assertEquals(1, all.path("records").size(), all::toString);
        assertEquals(0, all.path("older").asInt());
        JsonNode about = json(call(anna, "/api/v1/access?run=last&subject=anna"));
        assertEquals(1, about.path("entries").size(), about::toString);
        JsonNode entry = about.path("entries").get(0);
        assertEquals(run.value(), entry.path("run").asText());
        assertEquals(200, entry.path("status").asInt(), entry::toString);
        JsonNode newest = json(call(anna, "/api/v1/access?limit=1"));
        assertEquals(1, newest.path("entries").size());
        assertTrue(newest.path("older").asInt() >= 4, newest::toString);
        assertEquals(400, call(anna, "/api/v1/access?limit=0").statusCode());
        assertEquals(404, call(anna, "/api/v1/access?run=nobody").statusCode());
        assertEquals(
                403,
                call(token("bert", Role.AUDITOR, Set.of(run)), "/api/v1/access").statusCode());

        JsonNode said = Npm.script("console.mjs", List.of("access", server.uri(), anna, run, PICTURES))
                .getFirst();
        assertEquals(List.of(), Npm.texts(said.path("errors")));
        assertEquals(List.of(), Npm.texts(said.path("axe")));
        List<String> shown = Npm.texts(said.path("about"));
        assertTrue(shown.stream().allMatch(row -> row.contains(run.value())), shown::toString);
        assertTrue(
                shown.stream().anyMatch(row -> row.contains("anna (auditor)") && row.contains("200")), shown::toString);
        assertTrue(Npm.texts(said.path("all")).stream().anyMatch(row -> row.contains("owner (admin)")), said::toString);
        List<String> found = Npm.texts(said.path("found"));
        assertTrue(!found.isEmpty() && found.stream().allMatch(row -> row.contains("openapi")), found::toString);
    }

    private static JsonNode json(HttpResponse<String> answer) throws Exception {
        assertEquals(200, answer.statusCode(), answer::body);
        return new ObjectMapper().readTree(answer.body());
    }

    @Test
    void sqlIsAnsweredAndAllOfItRecorded() throws Exception {
        String anna = token("anna", Role.AUDITOR, null);
        JsonNode tables = json(call(anna, "/api/v1/sql"));
        assertTrue(tables.path("tables").findValuesAsText("table").contains("events"), tables::toString);
        String select = "select unnest(range(3)) as n";
        JsonNode rows = json(call(anna, "POST", "/api/v1/sql", "{\"select\":\"" + select + "\",\"limit\":2}"));
        assertEquals("[[0],[1]]", rows.path("rows").toString());
        assertFalse(rows.path("complete").asBoolean());
        assertTrue(json(call(anna, "POST", "/api/v1/sql", "{\"select\":\"" + select + "\"}"))
                .path("complete")
                .asBoolean());
        for (String refused : List.of(
                "{}",
                "no JSON",
                "{\"select\":\"drop table events\"}",
                "{\"select\":\"select * from read_text('/etc/passwd')\"}",
                "{\"select\":\"select 1\",\"limit\":5001}")) {
            assertEquals(400, call(anna, "POST", "/api/v1/sql", refused).statusCode(), refused);
        }
        assertEquals(
                413,
                call(anna, "POST", "/api/v1/sql", "{\"select\":\"select '" + "x".repeat(13_000) + "'\"}")
                        .statusCode());
        List<String> said = recorded().stream()
                .map(AccessEntry::said)
                .filter(Objects::nonNull)
                .toList();
        assertEquals(2, said.stream().filter(select::equals).count(), said::toString);
        assertTrue(said.contains("drop table events"), said::toString);
    }

    @Test
    void everyRouteOfTheApiHasARight() {
        var known = new TreeSet<String>();
        for (ApiRoute route : ApiRoute.values()) {
            known.add(route.path());
        }
        var served = new TreeSet<>(server.routes());
        served.removeIf(path -> !path.startsWith("/api") && !path.equals("/metrics"));
        assertEquals(served, known);
    }

    /// What the router would take for a route, and the table of rights does not, must not be answered.
    @Test
    void rolesCannotBeGotRoundByTheFormOfARequest() throws Exception {
        RunId odd = RunId.create(START.minusSeconds(180), new Random(10));
        record(odd, "fix! (2)", true);
        String viewer = token("vera", Role.VIEWER, null);
        String auditor = token("anna", Role.AUDITOR, null);
        for (String path : List.of(
                "/api/v1/runs/fix!%20(2)/events",
                "/api/v1/runs/fix%21%20%282%29/touched",
                "/api/v1/runs/first/events/",
                "/api/v1//runs/first/events",
                "/api/v1/runs/first/%65vents",
                "/api/v1/runs/first/events;x=1",
                "/api/v1/runs/first/EVENTS",
                "/api/v1/runs/first/calls/a!b/caused",
                "/%61pi/v1/runs/first/events",
                "/%6detrics",
                "//metrics",
                "/Metrics")) {
            int status = call(viewer, path).statusCode();
            assertTrue(status == 403 || status == 404, path + " " + status);
        }
        for (String method : List.of("HEAD", "OPTIONS", "PUT", "PURGE")) {
            assertEquals(
                    405, call(viewer, method, "/api/v1/runs/first/events", null).statusCode(), method);
        }
        HttpResponse<String> named = call(auditor, "/api/v1/runs/fix!%20(2)/events");
        assertEquals(200, named.statusCode(), named.body());
        AccessEntry last = recorded().getLast();
        assertEquals(odd.value(), last.run(), last::toString);
    }

    @Test
    void theNumberOfARequestStaysInside() throws Exception {
        var request = HttpRequest.newBuilder(URI.create(server.uri() + "/api/v1/runs"))
                .header("Authorization", "Bearer " + service.token())
                .header(AnswerMeter.NUMBER, "999")
                .header(AnswerMeter.CONNECTION, "another");
        HttpResponse<String> answer = client.send(request.build(), BodyHandlers.ofString());
        assertEquals(200, answer.statusCode());
        assertTrue(answer.headers().firstValue(AnswerMeter.NUMBER).isEmpty());
        assertEquals(200, recorded().getFirst().status());
    }

    /// Read as soon as the answer is there, without waiting for the half second after which all is sealed anyway.
    @Test
    void aRequestIsDurableBeforeItsAnswer() throws Exception {
        for (int times = 1; times <= 10; times++) {
            assertEquals(200, call(service.token(), "/api/v1/openapi.json").statusCode());
            var entries = new ArrayList<AccessEntry>();
            AccessEntries.read(new LocalTrust(data).recordings(), entries::add);
            assertEquals(times, entries.size());
        }
    }

    @Test
    void noTokenStandsInTheRecord() throws Exception {
        String anna = token("anna", Role.AUDITOR, null);
        call(anna, "/api/v1/runs?key=" + anna + "&own=" + service.token());
        call(anna, "POST", "/api/v1/mcp", "{\"method\":\"x\",\"params\":{\"name\":\"" + anna + "\"}}");
        String entries = recorded().toString();
        assertFalse(entries.contains(anna) || entries.contains(service.token()), entries);
        assertTrue(entries.contains("key=(a token)"), entries);
    }

    @Test
    void whatIsTooLongToBeRecordedIsNotAnswered() throws Exception {
        assertEquals(
                414,
                call(service.token(), "/api/v1/runs?x=" + "x".repeat(2_000)).statusCode());
        String blanks = " ".repeat(12_000);
        String message = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        assertEquals(
                413,
                call(service.token(), "POST", "/api/v1/mcp", blanks + message).statusCode());
        assertEquals(
                400,
                call(service.token(), "POST", "/api/v1/mcp", "[" + message + "]")
                        .statusCode(),
                "several at once");
        String call = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"show\","
                + "\"arguments\":{\"run\":\"last\"}}}";
        assertEquals(200, call(service.token(), "POST", "/api/v1/mcp", call).statusCode());
        AccessEntry last = recorded().getLast();
        assertEquals(run.value(), last.run(), last::toString);
    }

    @Test
    void aRequestToAnotherNameIsNotOneToThisService() throws Exception {
        try (var socket = new Socket(server.uri().getHost(), server.uri().getPort())) {
            socket.getOutputStream()
                    .write(
                            ("GET /api/v1/runs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nAuthorization: Bearer "
                                            + service.token() + "\r\n\r\n")
                                    .getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(answer.startsWith("HTTP/1.1 421"), answer);
        }
        assertEquals(List.of(), recorded());
    }

    /// Even if nobody waits for the answer, the record says how it ended.
    @Test
    void whoeverHangsUpHasAnAnswerInTheRecord() throws Exception {
        for (int times = 0; times < 5; times++) {
            try (var socket = new Socket(server.uri().getHost(), server.uri().getPort())) {
                socket.getOutputStream()
                        .write(
                                ("GET /api/v1/runs/first/verification HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
                                                + service.token() + "\r\n\r\n")
                                        .getBytes(StandardCharsets.US_ASCII));
            }
        }
        var entries = new ArrayList<AccessEntry>();
        long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        do {
            assertTrue(System.nanoTime() < deadline, entries::toString);
            entries.clear();
            AccessEntries.read(new LocalTrust(data).recordings(), entries::add);
        } while (entries.size() < 5 || entries.stream().anyMatch(each -> each.ended() == null));
    }

    @Test
    void whatIsAskedIsInARecordThatVerifies() throws Exception {
        String anna = token("anna", Role.AUDITOR, null);
        String runs = call(anna, "/api/v1/runs").body();
        assertFalse(runs.contains("access"), runs);
        String touched = call(anna, "/api/v1/runs/first/touched?part=files").body();
        assertEquals(404, call(anna, "/api/v1/runs/nothing").statusCode());
        assertEquals(
                403,
                call(anna, "POST", "/api/v1/runs/last/kill", "{\"reason\":\"no\"}")
                        .statusCode());
        call(anna, "POST", "/api/v1/mcp", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
        assertEquals(
                409,
                call(service.token(), "POST", "/api/v1/runs/last/kill", "{\"reason\":\"why\"}")
                        .statusCode());
        RunId record = service.context().access().run();
        List<AccessEntry> entries = recorded();
        assertEquals(6, entries.size(), entries::toString);
        AccessEntry first = entries.getFirst();
        assertEquals("anna", first.subject());
        assertEquals("auditor", first.role());
        assertEquals("GET /api/v1/runs", first.what());
        assertEquals(200, first.status());
        assertEquals(octets(runs), first.bytes());
        assertEquals("complete", first.ended());
        assertNull(first.run());
        AccessEntry second = entries.get(1);
        assertEquals(run.value(), second.run());
        assertEquals("/api/v1/runs/first/touched?part=files", second.target());
        assertEquals(octets(touched), second.bytes());
        assertEquals(404, entries.get(2).status());
        assertEquals(403, entries.get(3).status());
        assertTrue(String.valueOf(entries.get(4).said()).contains("ping"), entries::toString);
        assertEquals(ApiTokens.OWNER, entries.get(5).subject());
        assertEquals("why", entries.get(5).said());
        assertEquals(run.value(), entries.get(5).run());
        assertVerified(record);
        String all = Files.readString(data.apiTokens());
        assertFalse(all.contains(anna), "only the digest is kept");
    }

    private static long octets(String body) {
        return body.getBytes(StandardCharsets.UTF_8).length;
    }

    private void assertVerified(RunId record) throws Exception {
        var trust = new LocalTrust(data);
        Verification verification =
                CatalogView.verify(trust.recordings(), record, trust.believedKeys(), null, trust.anchorTrust());
        assertTrue(verification.holds(), verification::toString);
        assertEquals("access", RunFacts.read(trust.recordings(), record).service());
    }

    @Test
    void whatCannotBeRecordedIsNotAnswered() throws Exception {
        assertEquals(200, call(service.token(), "/api/v1/runs").statusCode());
        service.context().access().close();
        HttpResponse<String> refused = call(service.token(), "/api/v1/runs");
        assertEquals(503, refused.statusCode());
        assertFalse(refused.body().contains(run.value()), refused.body());
    }

    @Test
    void tokensEndAndAreForWhatTheyAreFor() throws Exception {
        String one = token("one", Role.AUDITOR, Set.of(run));
        assertEquals(200, call(one, "/api/v1/runs/first/touched").statusCode());
        assertEquals(403, call(one, "/api/v1/runs/other/touched").statusCode());
        assertEquals(403, call(one, "/api/v1/runs").statusCode());
        assertEquals(
                403,
                call(one, "POST", "/api/v1/mcp", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}")
                        .statusCode());
        assertEquals(1, ApiTokens.revoke(data, "one").size());
        assertEquals(401, call(one, "/api/v1/runs/first/touched").statusCode());
        assertEquals(List.of(), ApiTokens.revoke(data, "one"));
        String two = token("two", Role.VIEWER, null);
        assertEquals(200, call(two, "/api/v1/runs").statusCode());
        Files.setPosixFilePermissions(data.apiTokens(), PosixFilePermissions.fromString("rw-r--r--"));
        assertEquals(401, call(two, "/api/v1/runs").statusCode(), "others may have changed the file");
        assertEquals(200, call(service.token(), "/api/v1/runs").statusCode());
        Files.writeString(data.apiToken(), "x".repeat(40));
        assertEquals(401, call(service.token(), "/api/v1/runs").statusCode(), "it was replaced");
        assertEquals(200, call("x".repeat(40), "/api/v1/runs").statusCode());
        Grant grant = ApiTokens.create(new DataFolder(folder.resolve("new")), "x", Role.ADMIN, null, Duration.ofDays(1))
                .grant();
        assertTrue(grant.isValid(grant.created()));
        assertFalse(grant.isValid(grant.created().plus(Duration.ofDays(1))));
    }

    @Test
    void aTokenInAUrlIsRefusedAndNotRecorded() throws Exception {
        String anna = token("anna", Role.AUDITOR, null);
        HttpResponse<String> refused = call(anna, "/api/v1/runs?access_token=" + anna);
        assertEquals(400, refused.statusCode());
        List<AccessEntry> entries = recorded();
        assertEquals(1, entries.size());
        assertFalse(entries.toString().contains(anna), entries::toString);
    }

    @Test
    void aPageOfAnotherOriginStopsNothing() throws Exception {
        var request = HttpRequest.newBuilder(URI.create(server.uri() + "/api/v1/runs/last/kill"))
                .header("Authorization", "Bearer " + service.token())
                .header("Content-Type", "application/json")
                .header("Origin", "https://evil.example")
                .POST(BodyPublishers.ofString("{\"reason\":\"x\"}"));
        assertEquals(403, client.send(request.build(), BodyHandlers.ofString()).statusCode());
    }

    @Test
    void ofManyRefusalsOnlyTheNumberIsRecorded() throws Exception {
        for (int each = 0; each < 50; each++) {
            assertEquals(401, call("wrong", "/api/v1/runs").statusCode());
        }
        List<AccessEntry> entries = recorded();
        assertEquals(21, entries.size(), entries::toString);
        assertEquals(50, entries.stream().mapToLong(AccessEntry::count).sum());
        assertTrue(entries.stream().allMatch(entry -> entry.subject() == null));
    }

    @Test
    void anAnswerThatIsBrokenOffIsCut() throws Exception {
        RunId open = RunId.create(START.minusSeconds(120), new Random(9));
        record(open, "open", false);
        try (RunLock _ = RunLock.take(data, open)) {
            var request = HttpRequest.newBuilder(URI.create(server.uri() + "/api/v1/runs/open/events?follow=true"))
                    .header("Authorization", "Bearer " + service.token());
            try (InputStream body =
                    client.send(request.build(), BodyHandlers.ofInputStream()).body()) {
                assertTrue(body.read() > 0);
            }
            List<AccessEntry> entries = recorded(); // while the run could still go on
            assertEquals(1, entries.size());
            assertEquals("cut", entries.getFirst().ended(), entries::toString);
            assertEquals(200, entries.getFirst().status());
        }
    }
}
