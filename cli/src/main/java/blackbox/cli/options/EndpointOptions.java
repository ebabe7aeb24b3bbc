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
                        + " http://localhost:4318, in place of writing a file; /v1/traces is added to URL unless it ends with"
                        + " that. https, or this host itself.",
                "Headers for it, which may be secrets, are taken from the environment: OTEL_EXPORTER_OTLP_TRACES_HEADERS or"
                        + " OTEL_EXPORTER_OTLP_HEADERS, as OpenTelemetry has them (NAME=VALUE,NAME=VALUE)."
            })
    @Nullable
    private String endpoint;

    private @Nullable URI address;

    /// Refuses the option where it means nothing.
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
            throw CommandException.badInput("--endpoint '" + endpoint + "': " + e.getMessage());
        }
    }

    /// The receiver's address; null if none was named. To be called after [#requireFormat].
    public @Nullable URI address() {
        return address;
    }

    /// The receiver at an address.
    ///
    /// @param environment that headers are taken from
    public static OtlpReceiver receiver(
            URI address, Map<String, String> environment, HttpPoster poster, Progress progress) {
        try {
            return new OtlpReceiver(address, OtlpReceiver.headers(environment), poster, Thread::sleep, progress);
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput(String.valueOf(e.getMessage()));
        }
    }
}
