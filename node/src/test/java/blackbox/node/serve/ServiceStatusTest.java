package blackbox.node.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.ingest.service.IngestStatus;
import blackbox.ingest.service.IngestStatus.Phase;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Who watches the service learns that what is recorded no longer reaches the table, or late.
final class ServiceStatusTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    /// A line of the text format: a name, labels, a number.
    private static final Pattern SAMPLE = Pattern.compile(
            "[a-z_:][a-z0-9_:]*(\\{([a-z_]+=\"([^\"\\\\]|\\\\.)*\",?)*})? (NaN|[-+]?(Inf|[0-9.]+(E[-+]?[0-9]+)?))");

    @TempDir
    Path data;

    private final HttpClient client = HttpClient.newHttpClient();
    private TestService service;
    private ApiServer server;

    @BeforeEach
    void start() throws Exception {
        service = TestService.in(data, List::of, null);
        server = ApiServer.start(
                service.context(),
                new ApiAddress("127.0.0.1", ApiServer.ANY_PORT, List.of(), Duration.ofSeconds(10)),
                null);
    }

    @AfterEach
    void stop() {
        server.close();
        service.close();
        client.close();
    }

    @Test
    void healthSaysHowIngestIs() throws Exception {
        assertHealth(200, "UP", "STARTING");
        for (Phase phase : Phase.values()) {
            service.ingest().set(status(phase, 3, Duration.ofSeconds(2)));
            switch (phase) {
                case STARTING, RUNNING -> assertHealth(200, "UP", phase.name());
                case RETRYING -> assertHealth(200, "DEGRADED", phase.name());
                case FAILED, STOPPED -> assertHealth(503, "DOWN", phase.name());
            }
        }
        service.ingest().set(status(Phase.RUNNING, -1, Duration.ofSeconds(61)));
        JsonNode late = assertHealth(200, "DEGRADED", "RUNNING");
        assertTrue(late.path("ingest").path("unreadRecords").isNull(), late::toString);
        assertEquals(61.0, late.path("ingest").path("waitingSeconds").asDouble());
        assertFalse(late.toString().contains("/secret/place"), "whoever has no token is told no sentence");
    }

    @Test
    void whatPrometheusReadsIsItsFormatAndIsTrue() throws Exception {
        service.ingest().set(status(Phase.RETRYING, 5, Duration.ofMillis(1_500)));
        Files.createDirectories(service.context().data().alerts());
        Files.writeString(service.context().data().alerts().resolve("1-waiting.json"), "{}");
        assertEquals(404, get("/api/v1/runs/none", service.token(), null).statusCode());
        HttpResponse<String> text = get("/metrics", service.token(), "text/plain;version=0.0.4;q=0.5");
        assertEquals(200, text.statusCode(), text.body());
        assertTrue(text.headers().firstValue("Content-Type").orElse("").startsWith("text/plain; version=0.0.4"));
        var samples = new TreeSet<String>();
        for (String line : text.body().lines().toList()) {
            if (!line.startsWith("#")) {
                assertTrue(SAMPLE.matcher(line).matches(), line);
                samples.add(line);
            }
        }
        assertTrue(
                samples.containsAll(
                        Set.of(
                                "blackbox_ingest_phase{phase=\"RETRYING\"} 1.0",
                                "blackbox_ingest_phase{phase=\"RUNNING\"} 0.0",
                                "blackbox_ingest_rows_total 10.0",
                                "blackbox_ingest_bytes_total 20.0",
                                "blackbox_ingest_commits_total 30.0",
                                "blackbox_ingest_batches_total{result=\"accepted\"} 40.0",
                                "blackbox_ingest_batches_total{result=\"known\"} 50.0",
                                "blackbox_ingest_batches_total{result=\"foreign\"} 60.0",
                                "blackbox_ingest_batches_total{result=\"refused\"} 70.0",
                                "blackbox_ingest_unread_records 5.0",
                                "blackbox_ingest_waiting_seconds 1.5",
                                "blackbox_webhook_alerts_waiting 1.0",
                                "blackbox_http_request_duration_seconds_count{code=\"404\",route=\"GET /api/v1/runs/{run}\"} 1")),
                text::body);
        assertTrue(text.body().contains("jvm_memory_used_bytes"), text::body);
        assertFalse(text.body().contains("/secret/place"), "sentences are for the log");
        HttpResponse<String> open = get("/metrics", service.token(), "application/openmetrics-text; version=1.0.0");
        assertTrue(open.headers().firstValue("Content-Type").orElse("").startsWith("application/openmetrics-text"));
        assertTrue(open.body().endsWith("# EOF\n"), open::body);
        assertTrue(open.body().contains("route=\"GET /metrics\""), "the scrape before is in it");
    }

    @Test
    void whatTheDocumentationNamesIsThere() throws Exception {
        service.ingest().set(status(Phase.RUNNING, 0, Duration.ZERO));
        assertEquals(200, get("/metrics", service.token(), null).statusCode());
        String scraped = get("/metrics", service.token(), null).body();
        Matcher named = Pattern.compile("blackbox_[a-z_]+").matcher(Files.readString(Path.of("../docs/MONITORING.md")));
        var missing = new TreeSet<String>();
        int names = 0;
        while (named.find()) {
            names++;
            if (!scraped.contains(named.group())) {
                missing.add(named.group());
            }
        }
        assertTrue(names > 10);
        assertEquals(Set.of(), missing);
    }

    /// Prometheus' own header where native histograms are on: it prefers Protocol Buffers, which are not
    /// written here.
    @Test
    void whoPrefersAnotherFormatGetsText() throws Exception {
        HttpResponse<String> scraped = get(
                "/metrics",
                service.token(),
                "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,"
                        + "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.3");
        assertEquals(200, scraped.statusCode(), scraped.body());
        assertTrue(scraped.headers().firstValue("Content-Type").orElse("").startsWith("application/openmetrics-text"));
    }

    @Test
    void whatIsRefusedAndWhatIsNotRecordedIsCounted() throws Exception {
        assertEquals(401, get("/api/v1/runs", null, null).statusCode());
        assertEquals(404, get("/api/v1/nothing", service.token(), null).statusCode());
        String scraped = get("/metrics", service.token(), null).body();
        assertTrue(scraped.contains("_count{code=\"401\",route=\"GET /api/v1/runs\"} 1"), scraped);
        assertTrue(scraped.contains("_count{code=\"404\",route=\"GET (no such route)\"} 1"), scraped);
        assertTrue(scraped.contains("blackbox_requests_not_recorded_total 0.0"), scraped);
        service.context().access().close();
        assertEquals(503, get("/metrics", service.token(), null).statusCode());
        HttpResponse<String> health = get("/health", null, null);
        assertTrue(health.body().contains("\"status\":\"DEGRADED\""), health::body);
        assertTrue(health.body().contains("\"requestsAreRecorded\":false"), health::body);
    }

    /// What is not known is left out, and not told as 0.
    @Test
    void whatIsNotKnownIsNotTold() throws Exception {
        String before = get("/metrics", service.token(), null).body();
        assertFalse(before.contains("blackbox_ingest_rows_total"), before);
        assertTrue(before.contains("blackbox_ingest_phase{phase=\"STARTING\"} 1.0"), before);
        service.ingest().set(status(Phase.RUNNING, -1, Duration.ZERO));
        String after = get("/metrics", service.token(), null).body();
        assertFalse(after.contains("blackbox_ingest_unread_records "), after);
        assertTrue(after.contains("blackbox_ingest_waiting_seconds 0.0"), after);
    }

    @Test
    void withoutATokenThereAreNoMetrics() throws Exception {
        for (String path : List.of("/metrics", "/metrics/", "//metrics", "/metrics?x=1", "/%6detrics", "/metrics;a")) {
            int status = get(path, null, null).statusCode();
            assertTrue(status == 401 || status == 404 || status == 400, path + " " + status);
        }
        assertEquals(401, get("/metrics", "wrong", null).statusCode());
    }

    private JsonNode assertHealth(int status, String word, String phase) throws Exception {
        HttpResponse<String> health = get("/health", null, null);
        assertEquals(status, health.statusCode(), health.body());
        JsonNode said = JSON.readTree(health.body());
        assertEquals(word, said.path("status").asText());
        assertEquals(phase, said.path("ingest").path("phase").asText());
        return said;
    }

    private HttpResponse<String> get(String path, @Nullable String token, @Nullable String accept) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(server.uri() + path));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        if (accept != null) {
            request.header("Accept", accept);
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }

    private static IngestStatus status(Phase phase, long unread, Duration waiting) {
        return new IngestStatus(phase, "no room at /secret/place", 10, 20, 30, 40, 50, 60, 70, unread, waiting);
    }
}
