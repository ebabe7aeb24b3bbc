package blackbox.node.serve;

import blackbox.ingest.service.IngestStatus;
import blackbox.ingest.service.IngestStatus.Phase;
import blackbox.node.alert.Outbox;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;
import jakarta.inject.Singleton;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/// What the service tells Prometheus of itself: how ingest is doing, what was asked and how long the answers
/// took, what waits for webhooks, and the Java virtual machine. Counts are those since the process was started.
@Singleton
final class ServiceMetrics {
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final ApiContext context;
    private final Histogram requests;
    private final Counter notRecorded;
    private volatile boolean recording = true;
    private boolean complete;

    /// All metrics in a format that was asked for.
    record Scrape(String contentType, byte[] body) {}

    ServiceMetrics(ApiContext context) {
        this.context = context;
        this.requests = Histogram.builder()
                .name("blackbox_http_request_duration_seconds")
                .help("Time from a request's record to the head of its answer, by route and status.")
                .unit(Unit.SECONDS)
                .labelNames("route", "code")
                .classicUpperBounds(0.005, 0.02, 0.1, 0.5, 2, 10, 60)
                .register(registry);
        this.notRecorded = Counter.builder()
                .name("blackbox_requests_not_recorded")
                .help("Requests that were not answered because they could not be recorded.")
                .register(registry);
        addIngest();
    }

    /// A request was recorded, or could not be.
    void recorded(boolean succeeded) {
        recording = succeeded;
        if (!succeeded) {
            notRecorded.inc();
        }
    }

    /// Whether the last request could be recorded.
    boolean isRecording() {
        return recording;
    }

    /// A request was answered.
    ///
    /// @param route in the words of [ApiRoute#words]
    void answered(String route, int status, long tookNs) {
        requests.labelValues(route, Integer.toString(status)).observe(tookNs / 1e9);
    }

    /// @param accept what the scraper accepts, as HTTP has it; null for the text format
    Scrape scrape(@Nullable String accept) throws IOException {
        addJvm();
        // The library would choose Protocol Buffers where they are accepted, and then lacks what writes them.
        ExpositionFormats formats = ExpositionFormats.init();
        ExpositionFormatWriter writer = formats.getOpenMetricsTextFormatWriter().accepts(accept)
                ? formats.getOpenMetricsTextFormatWriter()
                : formats.getPrometheusTextFormatWriter();
        var body = new ByteArrayOutputStream();
        writer.write(body, registry.scrape());
        return new Scrape(writer.getContentType(), body.toByteArray());
    }

    /// Loads and registers these only where somebody scrapes.
    private synchronized void addJvm() {
        if (!complete) {
            complete = true;
            JvmMetrics.builder().register(registry);
        }
    }

    private void addIngest() {
        GaugeWithCallback.builder()
                .name("blackbox_ingest_phase")
                .help("1 for the phase in which ingest is, 0 for the others.")
                .labelNames("phase")
                .callback(to -> {
                    IngestStatus now = context.ingest().get();
                    Phase phase = now == null ? Phase.STARTING : now.phase();
                    for (Phase each : Phase.values()) {
                        to.call(each == phase ? 1 : 0, each.name());
                    }
                })
                .register(registry);
        counter("rows", "Events committed to the table.", IngestStatus::rows);
        counter("bytes", "Octets of data files committed to the table.", IngestStatus::bytes);
        counter("commits", "Commits to the table.", IngestStatus::commits);
        CounterWithCallback.builder()
                .name("blackbox_ingest_batches")
                .help("Batches taken from the topic, by what came of them: refused ones failed their check and are in"
                        + " quarantine, known ones had arrived before, foreign ones are of another log of runs.")
                .labelNames("result")
                .callback(to -> ifKnown(now -> {
                    to.call((double) now.batches(), "accepted");
                    to.call((double) now.known(), "known");
                    to.call((double) now.foreign(), "foreign");
                    to.call((double) now.refused(), "refused");
                }))
                .register(registry);
        GaugeWithCallback.builder()
                .name("blackbox_ingest_unread_records")
                .help("Records that the topic has and that were not read; missing where that is not known.")
                .callback(to -> {
                    IngestStatus now = context.ingest().get();
                    if (now != null && now.unread() >= 0) {
                        to.call((double) now.unread());
                    }
                })
                .register(registry);
        GaugeWithCallback.builder()
                .name("blackbox_ingest_waiting_seconds")
                .help("For how long the oldest record that was read has waited to be committed.")
                .unit(Unit.SECONDS)
                .callback(to -> ifKnown(now -> to.call(now.waiting().toNanos() / 1e9)))
                .register(registry);
        GaugeWithCallback.builder()
                .name("blackbox_webhook_alerts_waiting")
                .help("Alerts that were not delivered yet.")
                .callback(to -> {
                    try {
                        to.call((double) Outbox.waiting(context.data()));
                    } catch (IOException _) {
                        // It is left out, as what is not known is.
                    }
                })
                .register(registry);
    }

    private void counter(String what, String help, ToLongFunction<IngestStatus> of) {
        CounterWithCallback.builder()
                .name("blackbox_ingest_" + what)
                .help(help)
                .callback(to -> ifKnown(now -> to.call((double) of.applyAsLong(now))))
                .register(registry);
    }

    /// Nothing is told of an ingest that has not started.
    private void ifKnown(Consumer<IngestStatus> tell) {
        IngestStatus now = context.ingest().get();
        if (now != null) {
            tell.accept(now);
        }
    }
}
