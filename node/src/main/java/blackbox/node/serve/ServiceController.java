package blackbox.node.serve;

import blackbox.ingest.service.IngestStatus;
import blackbox.ingest.service.IngestStatus.Phase;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Produces;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Answers about the service itself: whether it is up (no token needed), what Prometheus wants to know, and the
/// OpenAPI document.
@Controller
final class ServiceController {
    /// How long a record may wait to be committed before the service is called degraded.
    private static final Duration WAITING_MAX = Duration.ofMinutes(1);

    private final ApiContext context;
    private final ServiceMetrics metrics;

    private enum Health {
        UP,
        /// What was recorded reaches the table late or not at all for now; ingest retries.
        DEGRADED,
        /// Ingest has ended: what is recorded from now on stays in spools and in the topic.
        DOWN;

        static Health of(@Nullable IngestStatus ingest) {
            return switch (ingest == null ? Phase.STARTING : ingest.phase()) {
                case FAILED, STOPPED -> DOWN;
                case RETRYING -> DEGRADED;
                case STARTING, RUNNING -> ingest != null && ingest.waiting().compareTo(WAITING_MAX) > 0 ? DEGRADED : UP;
            };
        }
    }

    ServiceController(ApiContext context, ServiceMetrics metrics) {
        this.context = context;
        this.metrics = metrics;
    }

    @Get("/health")
    @Produces(MediaType.APPLICATION_JSON)
    HttpResponse<byte[]> health() {
        IngestStatus ingest = context.ingest().get();
        boolean recording = metrics.isRecording();
        Health judged = Health.of(ingest);
        Health health = judged == Health.UP && !recording ? Health.DEGRADED : judged;
        byte[] body = ApiJson.document(out -> {
            out.writeStartObject();
            out.writeStringField("status", health.name());
            out.writeObjectFieldStart("ingest");
            out.writeStringField(
                    "phase",
                    ingest == null ? Phase.STARTING.name() : ingest.phase().name());
            if (ingest != null && ingest.unread() >= 0) {
                out.writeNumberField("unreadRecords", ingest.unread());
            } else {
                out.writeNullField("unreadRecords");
            }
            out.writeNumberField(
                    "waitingSeconds", ingest == null ? 0 : ingest.waiting().toMillis() / 1_000.0);
            out.writeEndObject();
            out.writeBooleanField("requestsAreRecorded", recording);
            out.writeEndObject();
        });
        return HttpResponse.<byte[]>status(health == Health.DOWN ? HttpStatus.SERVICE_UNAVAILABLE : HttpStatus.OK)
                .body(body);
    }

    /// @throws java.util.NoSuchElementException for a request that was neither judged nor recorded
    @Get("/metrics")
    @Produces(MediaType.ALL)
    HttpResponse<byte[]> metrics(HttpRequest<?> request) throws IOException {
        AccessFilter.requireRecorded(request);
        ServiceMetrics.Scrape scrape = metrics.scrape(request.getHeaders().get(HttpHeaders.ACCEPT));
        return HttpResponse.ok(scrape.body()).header(HttpHeaders.CONTENT_TYPE, scrape.contentType());
    }

    @Get("/api/v1/openapi.json")
    @Produces(MediaType.APPLICATION_JSON)
    byte[] openApi() throws IOException {
        try (InputStream in = ServiceController.class.getResourceAsStream("openapi.json")) {
            if (in == null) {
                throw new IOException("the OpenAPI document is missing from this build");
            }
            return in.readAllBytes();
        }
    }
}
