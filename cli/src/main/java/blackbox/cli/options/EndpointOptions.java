package blackbox.cli.options;

import blackbox.cli.exit.CommandException;
import blackbox.node.otlp.OtlpReceiver;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.schemas.Progress;
import java.net.URI;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Where traces are sent to; add it as `@Mixin`.
public final class EndpointOptions {

    @Option(
            names = "--endpoint",
            paramLabel = "URL",
            description = {
                "otlp: send it to a receiver of OTLP over HTTP, such as OpenTelemetry's collector at"
                        + " http://localhost:4318, instead of writing a file; /v1/traces is added to URL unless it ends with"
                        + " that. URL is https, or of this host itself.",
                "Headers for it, which may be secrets, are taken from the environment: OTEL_EXPORTER_OTLP_TRACES_HEADERS or"
                        + " OTEL_EXPORTER_OTLP_HEADERS, as OpenTelemetry has them (NAME=VALUE,NAME=VALUE)."
            })
    @Nullable
    private String endpoint;

    private @Nullable URI address;
    private Map<String, String> headers = Map.of();

    /// Refuses the option where it means nothing, and addresses and headers that cannot be used.
    ///
    /// @param traces whether the format is `otlp`
    /// @param file whether a file to write was named
    public void requireFormat(boolean traces, boolean file) {
        if (endpoint == null) {
            return;
        }
        if (!traces) {
            throw CommandException.badInput("--endpoint applies to --format otlp only");
        }
        if (file) {
            throw CommandException.badInput("--endpoint sends it, and --out writes it to a file; give one of them");
        }
        try {
            address = HttpPoster.confidential(endpoint, "traces");
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput("--endpoint: " + e.getMessage()); // the address may hold a secret
        }
        try {
            headers = OtlpReceiver.headers(System.getenv());
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput(String.valueOf(e.getMessage()));
        }
    }

    /// The receiver's address; null if none was named. To be called after [#requireFormat].
    public @Nullable URI address() {
        return address;
    }

    /// The receiver at [#address]. To be called after [#requireFormat].
    public OtlpReceiver receiver(URI at, HttpPoster poster, Progress progress) {
        return new OtlpReceiver(at, headers, poster, Thread::sleep, progress);
    }
}
