package blackbox.node.otlp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.store.Recordings;
import blackbox.query.otlp.RunTrace;
import blackbox.recorder.keys.KeyFile;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.recorder.seal.RunSealer;
import blackbox.recorder.spool.Spool;
import blackbox.schemas.RunId;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Receivers of traces, as they should be and as they should not. That what they get is OTLP is shown where it
/// is written.
class OtlpReceiverTest {

    private static final Instant START = Instant.parse("2026-11-21T09:00:00Z");
    private static final long START_NS = START.getEpochSecond() * 1_000_000_000L;
    private static final int CALLS = 150;
    private static final String JSON = "application/json";

    @TempDir
    Path folder;

    private record Answer(int status, String type, String body, Map<String, String> headers) {}

    private final Deque<Answer> answers = new ArrayDeque<>();
    private final List<String> bodies = new ArrayList<>();
    private final List<Headers> headers = new ArrayList<>();
    private final List<Duration> pauses = new ArrayList<>();
    private final List<String> said = new ArrayList<>();
    private final HttpPoster poster = new HttpPoster(Duration.ofSeconds(10));
    private HttpServer server;
    private RunTrace trace;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        trace = trace();
    }

    @AfterEach
    void stop() {
        poster.close();
        server.stop(0);
    }

    private RunTrace trace() throws Exception {
        RunId run = RunId.create(START, new Random(7));
        var key = KeyFile.loadOrCreate(folder.resolve("keys"), "recorder");
        var sealer = new RunSealer(run, key, Spool.create(folder.resolve("spool"), run), InstantSource.fixed(START));
        sealer.append(new Event.RunOpen(EventHeader.host(START_NS), Text.of("calls"), "{\"tier\":\"live\"}"));
        for (int i = 1; i <= CALLS; i++) {
            sealer.append(new Event.AgentCall(
                    Kind.LLM_CALL,
                    EventHeader.host(START_NS + i),
                    Text.of("openai-chat"),
                    new Endpoint("10.0.2.15", 4000),
                    new Endpoint("198.18.0.1", 443),
                    Text.of("model.example"),
                    "{\"number\":" + i + ",\"provider\":\"openai\",\"requestModel\":\"m\",\"status\":200,\"askedAtNs\":"
                            + (START_NS + i - 1) + "}"));
        }
        sealer.append(new Event.RunClose(EventHeader.host(START_NS + 900), sealer.size(), 0, 0, null, null));
        sealer.seal();
        return RunTrace.collect(
                Recordings.unchecked(folder), run, RunTrace.Content.LEFT_OUT, RunTrace.Programs.INCLUDED);
    }

    private void answer(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        synchronized (bodies) {
            bodies.add(exchange.getRequestURI() + " " + new String(body, StandardCharsets.UTF_8));
            headers.add(exchange.getRequestHeaders());
        }
        Answer given =
                answers.isEmpty() ? new Answer(200, JSON, "{\"partialSuccess\":{}}", Map.of()) : answers.remove();
        byte[] octets = given.body().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", given.type());
        given.headers().forEach(exchange.getResponseHeaders()::set);
        exchange.sendResponseHeaders(given.status(), octets.length == 0 ? -1 : octets.length);
        exchange.getResponseBody().write(octets);
        exchange.close();
    }

    private void answers(int status, String type, String body) {
        answers.add(new Answer(status, type, body, Map.of()));
    }

    private OtlpReceiver receiver(String path) {
        URI address = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
        return new OtlpReceiver(address, Map.of("x-key", "k 1"), poster, pauses::add, said::add);
    }

    private String refused() {
        return String.valueOf(
                assertThrows(IOException.class, () -> receiver("").send(trace)).getMessage());
    }

    @Test
    void itGetsWhatAFileWouldHave() throws Exception {
        var file = new StringWriter();
        trace.write(file);
        List<String> lines = file.toString().lines().toList();
        assertTrue(lines.size() > 2, "more than one request");
        OtlpReceiver.Sent sent = receiver("").send(trace);
        assertEquals(lines.stream().map(line -> "/v1/traces " + line).toList(), bodies);
        assertEquals(new OtlpReceiver.Sent(lines.size(), CALLS + 1, 0, List.of()), sent);
        assertEquals(JSON, headers.getFirst().getFirst("Content-Type"));
        assertEquals("k 1", headers.getFirst().getFirst("X-key"));
        assertTrue(pauses.isEmpty());
    }

    @Test
    void thePathIsAddedOnce() throws Exception {
        for (String path : List.of("/", "/v1/traces", "/v1/traces/", "/tenant/7/", "/tenant/7/v1/traces?a=b")) {
            OtlpReceiver.Sent unused = receiver(path).send(trace);
        }
        List<String> paths =
                bodies.stream().map(body -> body.split(" ", 2)[0]).distinct().toList();
        assertEquals(List.of("/v1/traces", "/tenant/7/v1/traces", "/tenant/7/v1/traces?a=b"), paths);
    }

    @Test
    void whatIsNotTakenForTheMomentIsSentAgain() throws Exception {
        answers(503, "text/html", "<p>busy");
        answers.add(new Answer(429, JSON, "{\"message\":\"slow\\u001b[1m down\"}", Map.of("Retry-After", "7")));
        OtlpReceiver.Sent sent = receiver("").send(trace);
        assertEquals(CALLS + 1, sent.spans());
        assertEquals(bodies.size() - 2, sent.requests());
        assertEquals(bodies.get(0), bodies.get(2), "the same octets");
        assertEquals(List.of(Duration.ofSeconds(1), Duration.ofSeconds(7)), pauses);
        assertTrue(said.get(0).endsWith("answers 503; it is sent again in 1 s"), said::toString);
        assertTrue(said.get(1).contains("answers 429: slow"), said::toString);
        assertFalse(said.get(1).contains("\u001b"), said::toString);
    }

    @Test
    void itEndsAfterAFewTries() throws Exception {
        for (int i = 0; i < 6; i++) {
            answers(502, JSON, "{}");
        }
        String why = refused();
        assertTrue(why.contains("answers 502, also when asked 6 times"), why);
        assertTrue(why.contains("it took 0 spans before"), why);
        assertEquals(
                List.of(1L, 2L, 4L, 8L, 16L),
                pauses.stream().map(Duration::toSeconds).toList());
    }

    @Test
    void nobodyWaitsForLong() {
        answers.add(new Answer(503, JSON, "{}", Map.of("Retry-After", "3600")));
        String why = refused();
        assertTrue(why.contains("it asks for 3600 s of patience"), why);
        assertTrue(pauses.isEmpty());
    }

    @Test
    void whereNobodyListensItIsTriedAgain() {
        server.stop(0);
        String why = refused();
        assertTrue(why.contains("no answer: "), why);
        assertEquals(5, pauses.size());
    }

    @Test
    void whatIsRefusedIsNotSentAgain() {
        answers(200, JSON, "{}");
        answers(401, JSON, "{\"code\":16,\"message\":\"no such key\"}");
        String why = refused();
        assertTrue(why.contains("answers 401: no such key; it took 64 spans before"), why);
        assertTrue(pauses.isEmpty());
        answers.add(new Answer(302, JSON, "", Map.of("Location", "http://127.0.0.1:1/")));
        why = refused();
        assertTrue(why.contains("answers 302"), why);
    }

    @Test
    void rejectedSpansAreCounted() throws Exception {
        answers(200, JSON, "{\"partialSuccess\":{\"rejectedSpans\":\"3\",\"errorMessage\":\"too old\"}}");
        answers(200, JSON, "{\"partialSuccess\":{\"rejectedSpans\":9999,\"errorMessage\":\"too old\"}}");
        answers(200, JSON, "");
        OtlpReceiver.Sent sent = receiver("").send(trace);
        assertEquals(3 + 64, sent.rejected(), "not more than were sent");
        assertEquals(List.of("too old"), sent.said());
    }

    @Test
    void whatAnswersOtherwiseIsNoReceiver() {
        answers(200, "text/html", "<title>Sign in</title>");
        String why = refused();
        assertTrue(why.contains("answers with 'text/html', which is no receiver of traces"), why);
        answers(200, JSON, "{\"partialSuccess\":");
        assertTrue(refused().contains("no receiver"), "cut");
        answers(200, "text/plain", "");
        assertTrue(refused().contains("no receiver"), "a web server that says OK to all");
        answers(200, JSON, "[]");
        assertTrue(refused().contains("no receiver"), "no object");
        answers(200, JSON, "{\"x\":\"" + "y".repeat(2 << 20) + "\"}");
        answers.addAll(List.of(answers.peekLast(), answers.peekLast(), answers.peekLast()));
        answers.addAll(List.of(answers.peekLast(), answers.peekLast()));
        assertTrue(refused().contains("no answer"), "too long");
    }

    /// What is not HTTP is in messages of the JDK's, with whatever it is.
    @Test
    void noReceiverReachesTheTerminal() throws Exception {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread.ofVirtual().start(() -> {
                while (!socket.isClosed()) {
                    try {
                        Socket client = socket.accept();
                        Thread.ofVirtual().start(() -> speakNoHttp(client));
                    } catch (IOException _) {
                        // the test is over
                    }
                }
            });
            URI address = URI.create("http://127.0.0.1:" + socket.getLocalPort());
            var receiver = new OtlpReceiver(address, Map.of(), poster, pauses::add, said::add);
            String why = String.valueOf(
                    assertThrows(IOException.class, () -> receiver.send(trace)).getMessage());
            assertFalse((why + said).chars().anyMatch(c -> c < ' '), why);
            assertTrue(why.contains("pwned"), why);
        }
    }

    private static void speakNoHttp(Socket client) {
        try (client) {
            int unused = client.getInputStream().read();
            client.getOutputStream().write("NOT-HTTP \u001b]0;pwned\u0007\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            client.shutdownOutput();
            client.getInputStream().readAllBytes();
        } catch (IOException _) {
            // the client has gone
        }
    }

    /// Each part may be refused a few times, but not all of them for hours.
    @Test
    void allPausesTogetherAreBounded() {
        for (int i = 0; i < 60; i++) {
            if (i % 6 < 5) {
                answers.add(new Answer(503, JSON, "{}", Map.of("Retry-After", "60")));
            } else {
                answers(200, JSON, "{}");
            }
        }
        String why = refused();
        assertTrue(why.contains("after 10 minutes of waiting in all"), why);
        assertEquals(10, pauses.size());
    }

    @Test
    void headersAreThoseOfOpenTelemetrysVariables() {
        String all = "OTEL_EXPORTER_OTLP_HEADERS";
        String traces = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
        assertEquals(Map.of(), OtlpReceiver.headers(Map.of()));
        assertEquals(
                Map.of("api-key", "a=b, c+d", "x", ""),
                OtlpReceiver.headers(Map.of(all, " api-key = a=b%2C%20c+d , x=,")));
        assertEquals(Map.of("b", "2"), OtlpReceiver.headers(Map.of(all, "a=1", traces, "b=2")));
        assertEquals(Map.of("a", "1"), OtlpReceiver.headers(Map.of(all, "a=1", traces, "")));
        for (String bad : List.of(
                "secretvalue",
                "a b=secretvalue",
                "=secretvalue",
                "a=secretvalue%0d%0aX: y",
                "a=secretvalue%zz",
                "Host=secretvalue")) {
            var e = assertThrows(IllegalArgumentException.class, () -> OtlpReceiver.headers(Map.of(all, bad)), bad);
            assertFalse(String.valueOf(e.getMessage()).contains("secretvalue"), bad);
        }
    }
}
