package blackbox.node.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.Ed25519Verifier;
import blackbox.node.access.ApiToken;
import blackbox.recorder.runlog.TransparencyLogWriter;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.RunLock;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.row.Text;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
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
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ApiServerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(2);
    static final ApiAddress LOOPBACK =
            new ApiAddress("127.0.0.1", ApiServer.ANY_PORT, List.of("recorder.example"), PATIENCE);

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");

    @TempDir
    Path data;

    private final Ed25519Key key = Ed25519Key.create("blackbox/recorder", new SecureRandom());
    private final HttpClient client = HttpClient.newHttpClient();
    private final RunId run = RunId.create(START, new Random(7));
    private Spool spool;
    private RunSealer sealer;
    private TestService service;
    private ApiServer server;
    private String token;

    @BeforeEach
    void start() throws Exception {
        spool = Spool.create(data.resolve("spool"), run);
        sealer = new RunSealer(run, key, spool, InstantSource.fixed(START));
        sealer.append(new Event.RunOpen(header(), Text.of("first"), "{\"tier\":\"live\"}"));
        sealer.seal();
        service = TestService.in(data, () -> List.of(key.verifier()), null);
        token = service.token();
        server = ApiServer.start(service.context(), LOOPBACK, null);
    }

    @AfterEach
    void stop() {
        server.close();
        service.close();
        client.close();
    }

    private static EventHeader header() {
        return EventHeader.host(START.getEpochSecond() * 1_000_000_000L);
    }

    private void close() throws Exception {
        sealer.append(new Event.RunClose(header(), sealer.size(), 0, 0, null, null));
        sealer.seal();
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(server.uri() + path))
                .header("Authorization", "Bearer " + token)
                .timeout(Duration.ofSeconds(20));
    }

    private HttpResponse<String> call(String path) throws Exception {
        return client.send(request(path).build(), BodyHandlers.ofString());
    }

    private JsonNode json(String path) throws Exception {
        HttpResponse<String> response = call(path);
        assertEquals(200, response.statusCode(), response.body());
        assertEquals(
                "application/json",
                response.headers().firstValue("content-type").orElse(""));
        return JSON.readTree(response.body());
    }

    /// Evidence is given once all of it is in the table: what is in the spool no browser can read.
    @Test
    void evidenceWaitsForTheTable() throws Exception {
        HttpResponse<String> open = call("/api/v1/runs/last/evidence");
        assertEquals(409, open.statusCode(), open.body());
        assertTrue(open.body().contains("is in the table yet"), open.body());
        close();
        assertEquals(409, call("/api/v1/runs/last/evidence").statusCode());
    }

    @Test
    void runsAndWhatTheyDid() throws Exception {
        sealer.append(new Event.TracerHeartbeat(
                new EventHeader(header().atNs(), Source.GUEST, new GuestOrigin(0, 1), null, Marks.NONE),
                "{\"final\":true}"));
        close();
        assertEquals(run.value(), json("/api/v1/runs").path(0).path("run").asText());
        JsonNode one = json("/api/v1/runs/last");
        assertEquals("first", one.path("name").asText());
        assertEquals("CLOSED", one.path("state").asText());
        assertEquals(2, one.path("counts").path("recorder.heartbeat").asInt());
        assertTrue(json("/api/v1/runs/first/touched").path("files").isArray());
        JsonNode egress = json("/api/v1/runs/" + run + "/touched?part=egress&part=files");
        assertTrue(egress.has("egress") && !egress.has("processes") && egress.has("limits"));
        JsonNode why = json("/api/v1/runs/last/events/0/why?all=true");
        assertEquals(
                "follows from no call: no process of the agent did it",
                why.path("answer").asText());
        assertEquals("run.open", why.path("chain").path(0).path("kind").asText(), why.toString());
        JsonNode verification = json("/api/v1/runs/last/verification");
        assertEquals("VERIFIED", verification.path("integrity").asText(), verification.toString());
        assertEquals("COMPLETE", verification.path("completeness").asText());
        assertTrue(one.path("lossKnown").asBoolean());
    }

    @Test
    void whereLossesAreNotKnownEveryAnswerSaysSo() throws Exception {
        close();
        for (String path : List.of("/api/v1/runs/last", "/api/v1/runs")) {
            JsonNode answer = json(path);
            JsonNode one = answer.isArray() ? answer.path(0) : answer;
            assertFalse(one.path("lossKnown").asBoolean(true), one::toString);
            assertEquals(0, one.path("unknownFrom").asInt(-1), one::toString);
        }
        JsonNode verification = json("/api/v1/runs/last/verification");
        assertEquals("UNKNOWN", verification.path("completeness").asText());
        String limit = json("/api/v1/runs/last/touched").path("limits").path(0).asText();
        assertTrue(limit.startsWith("completeness is UNKNOWN: from event 0 on"), limit);
    }

    /// Somebody else's page can make its own name resolve to this address, but never one of these.
    @Test
    void onlyNamesOfTheServiceAreAnswered() throws Exception {
        int port = server.uri().getPort();
        for (String name : List.of("127.0.0.1:" + port, "localhost", "[::1]:80", "Recorder.example:" + port)) {
            assertTrue(statusFor("Host: " + name).contains(" 401 "), name);
        }
        for (String name : List.of("evil.example", "127.0.0.1.evil.example:" + port, "localhost.", "", "::1")) {
            assertTrue(statusFor("Host: " + name).contains(" 421 "), name);
        }
        assertFalse(statusFor("X-Host: localhost").contains(" 401 "));
    }

    private String statusFor(String header) throws IOException {
        try (var socket =
                new Socket(InetAddress.getLoopbackAddress(), server.uri().getPort())) {
            String request = "GET /api/v1/runs HTTP/1.1\r\n" + header + "\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
            var lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            return String.valueOf(lines.readLine());
        }
    }

    @Test
    void incompleteRequestsAreNotWaitedForForever() throws Exception {
        var half = new ArrayList<Socket>();
        String begun = "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n";
        for (String sent : List.of("", "G", begun, begun + "Content-Length: 9\r\n\r\nabc")) {
            for (int i = 0; i < 50; i++) {
                var socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.uri().getPort());
                socket.getOutputStream().write(sent.getBytes(StandardCharsets.UTF_8));
                socket.setSoTimeout(20_000);
                half.add(socket);
            }
        }
        assertEquals(200, call("/api/v1/runs").statusCode(), "others are served meanwhile");
        for (Socket each : half) {
            try (each) {
                each.getInputStream().readAllBytes(); // to the end of the connection
            } catch (SocketException e) {
                // reset: closed as well
            }
        }
    }

    @Test
    void eventsAreLinesOfJson() throws Exception {
        close();
        HttpResponse<String> all = call("/api/v1/runs/last/events");
        assertEquals(200, all.statusCode(), all.body());
        assertEquals(
                "application/x-ndjson", all.headers().firstValue("content-type").orElse(""));
        assertEquals(4, all.body().lines().count());
        String kinds = call("/api/v1/runs/last/events?kind=run&limit=1&index=1").body();
        assertEquals("run.close", JSON.readTree(kinds).path("kind").asText());
    }

    @Test
    void aRunIsFollowedWhileItIsRecorded() throws Exception {
        RunLock lock = RunLock.take(new DataFolder(data), run);
        HttpResponse<InputStream> response =
                client.send(request("/api/v1/runs/last/events?follow=true").build(), BodyHandlers.ofInputStream());
        var lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
        assertEquals("run.open", JSON.readTree(lines.readLine()).path("kind").asText());
        assertEquals(
                "recorder.heartbeat",
                JSON.readTree(lines.readLine()).path("kind").asText());
        // What comes next is written only now that the first events have arrived.
        close();
        assertEquals("run.close", JSON.readTree(lines.readLine()).path("kind").asText());
        lock.close();
        assertEquals(3, JSON.readTree(lines.readLine()).path("index").asInt());
        assertEquals(null, lines.readLine());
    }

    @Test
    void withoutTheTokenNothingIsAnswered() throws Exception {
        for (String header : List.of("", "Bearer", "Bearer " + token + "x", "Basic " + token, "Bearer  ")) {
            var request = HttpRequest.newBuilder(URI.create(server.uri() + "/api/v1/runs"));
            if (!header.isEmpty()) {
                request.header("Authorization", header);
            }
            HttpResponse<String> response = client.send(request.build(), BodyHandlers.ofString());
            assertProblem(401, response);
            assertTrue(response.headers().firstValue("www-authenticate").isPresent());
        }
        var health = client.send(
                HttpRequest.newBuilder(URI.create(server.uri() + "/health")).build(), BodyHandlers.ofString());
        assertEquals(200, health.statusCode());
    }

    @Test
    void errorsAreProblems() throws Exception {
        assertProblem(404, call("/api/v1/runs/nothing"));
        assertProblem(404, call("/api/v1/nothing"));
        assertProblem(400, call("/api/v1/runs/last/events?kind=file.opne"));
        assertProblem(400, call("/api/v1/runs/last/events?from=yesterday"));
        assertProblem(400, call("/api/v1/runs/last/events?limit=many"));
        assertProblem(400, call("/api/v1/runs/last/events?index=-1"));
        assertProblem(400, call("/api/v1/runs/last/touched?part=everything"));
        assertProblem(404, call("/api/v1/runs/last/events/9/why"));
        assertProblem(400, call("/api/v1/runs/last/events/first/why"));
        assertProblem(404, call("/api/v1/runs/last/calls/0/caused"));
        assertProblem(405, client.send(request("/api/v1/runs").DELETE().build(), BodyHandlers.ofString()));
        assertProblem(404, call("/api/v1/runs/..%2f..%2fetc"));
    }

    private static void assertProblem(int status, HttpResponse<String> response) throws IOException {
        assertEquals(status, response.statusCode(), response.body());
        assertEquals(
                "application/problem+json",
                response.headers().firstValue("content-type").orElse(""));
        JsonNode problem = JSON.readTree(response.body());
        assertEquals(status, problem.path("status").asInt());
        assertTrue(problem.path("detail").asText().length() > 5, response.body());
    }

    @Test
    void theLogOfRunsIsServedAsItIsWithoutAToken() throws Exception {
        assertProblem(404, anonymous("/log/checkpoint"));
        Ed25519Key logKey = Ed25519Key.create("blackbox/log/test", new SecureRandom());
        var signer = new TransparencyLogWriter.Signer(List.of(logKey), START, null);
        new TransparencyLogWriter(data.resolve("log"), signer, InstantSource.fixed(START)).certify(run, key(run));
        String checkpoint = anonymous("/log/checkpoint").body();
        assertEquals(Files.readString(data.resolve("log/checkpoint")), checkpoint);
        String entries = anonymous("/log/tile/entries/000.p/2").body();
        assertEquals(Files.readString(data.resolve("log/tile/entries/000.p/2")), entries);
        assertEquals(200, anonymous("/log/tile/0/000.p/2").statusCode());
        assertProblem(404, anonymous("/log/tile/0/001"));
        assertProblem(404, anonymous("/log/tile/0/x000/001"));
        assertProblem(404, anonymous("/log/tile/..%2f..%2fapi-token"));
        assertProblem(404, anonymous("/log/tile/0/..%2f..%2f..%2fapi-token"));
    }

    private static Ed25519Verifier key(RunId run) {
        return Ed25519Key.create(run.origin(), new SecureRandom()).verifier();
    }

    private HttpResponse<String> anonymous(String path) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(server.uri() + path)).timeout(Duration.ofSeconds(20));
        return client.send(request.build(), BodyHandlers.ofString());
    }

    @Test
    void theDocumentDescribesWhatIsServed() throws Exception {
        JsonNode document = json("/api/v1/openapi.json");
        var described = new TreeSet<String>();
        document.path("paths").fieldNames().forEachRemaining(described::add);
        assertEquals(server.routes(), described);
    }

    @Test
    void aPortThatIsTakenIsReported() throws Exception {
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ApiContext context = service.context();
            var failure = assertThrows(
                    IOException.class,
                    () -> ApiServer.start(
                            context, new ApiAddress("127.0.0.1", taken.getLocalPort(), List.of(), PATIENCE), null));
            assertTrue(
                    String.valueOf(failure.getMessage()).contains("if the port is taken, choose another"),
                    failure.getMessage());
        }
    }

    @Test
    void aTokenFileThatOthersMayReadIsRefused() throws Exception {
        Path file = data.resolve("other-token");
        ApiToken.loadOrCreate(file, new SecureRandom());
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        assertThrows(IOException.class, () -> ApiToken.loadOrCreate(file, new SecureRandom()));
    }
}
