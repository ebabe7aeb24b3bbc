package blackbox.node.otlp;

import blackbox.evidence.text.Printable;
import blackbox.query.otlp.RunTrace;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.schemas.Progress;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.net.ssl.SSLException;

/// A receiver of traces by OTLP over HTTP, with bodies in JSON, such as OpenTelemetry's collector.
///
/// Requests that fail for the moment (429, 502, 503, 504, or no answer) are sent again after a while, a few
/// times; anything else but 200 ends the transfer. A receiver may get spans twice and can tell, since they
/// have the same ids whenever a run is exported. Redirects are not followed. Owned by one thread.
public final class OtlpReceiver {

    private static final String PATH = "/v1/traces";
    private static final int TRIES = 6;
    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final Duration PAUSE_MAX = Duration.ofSeconds(60);

    /// Of all pauses together.
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    private static final Set<Integer> FOR_THE_MOMENT = Set.of(429, 502, 503, 504);
    private static final int ANSWER_OCTETS_MAX = 1 << 20;
    private static final int SHOWN_CHARS = 300;
    private static final String JSON = "application/json";
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final URI traces;
    private final Map<String, String> headers;
    private final HttpPoster poster;
    private final Pause pause;
    private final Progress progress;
    private Duration waited = Duration.ZERO;

    /// Waits.
    @FunctionalInterface
    public interface Pause {
        void take(Duration length) throws InterruptedException;
    }

    /// What a receiver took.
    ///
    /// @param requests in how many requests it was sent
    /// @param spans how many were sent
    /// @param rejected how many of them it says that it did not take
    /// @param said what else it said, each once
    public record Sent(int requests, long spans, long rejected, List<String> said) {
        public Sent {
            said = List.copyOf(said);
        }
    }

    /// @param endpoint of OTLP, to which `/v1/traces` is added unless it ends with that
    /// @param headers for each request, such as what the receiver knows the sender by
    /// @param progress is told why something is sent again
    public OtlpReceiver(URI endpoint, Map<String, String> headers, HttpPoster poster, Pause pause, Progress progress) {
        this.traces = traces(endpoint);
        this.headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        this.headers.putAll(headers);
        this.headers.put("Content-Type", JSON);
        this.poster = poster;
        this.pause = pause;
        this.progress = progress;
    }

    private static URI traces(URI endpoint) {
        String path = endpoint.getRawPath() == null ? "" : endpoint.getRawPath().replaceAll("/+$", "");
        String query = endpoint.getRawQuery() == null ? "" : "?" + endpoint.getRawQuery();
        return URI.create(endpoint.getScheme() + "://" + endpoint.getRawAuthority() + path
                + (path.endsWith(PATH) ? "" : PATH) + query);
    }

    /// Headers from OpenTelemetry's own environment variables, of which the one for traces counts if both
    /// are set: `NAME=VALUE,NAME=VALUE`, values percent-encoded.
    ///
    /// @throws IllegalArgumentException when they are not of this form; the message has no value
    public static Map<String, String> headers(Map<String, String> environment) {
        String ofTraces = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
        boolean isEmpty = environment.getOrDefault(ofTraces, "").isBlank();
        String name = isEmpty ? "OTEL_EXPORTER_OTLP_HEADERS" : ofTraces;
        var headers = new TreeMap<String, String>();
        for (String each : environment.getOrDefault(name, "").split(",")) {
            int equals = each.indexOf('=');
            String header = each.substring(0, Math.max(equals, 0)).strip();
            if (each.isBlank()) {
                continue;
            }
            if (!header.matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")) {
                throw new IllegalArgumentException(name + " is not NAME=VALUE,NAME=VALUE");
            }
            headers.put(header, decoded(name, header, each.substring(equals + 1).strip()));
            requireAllowed(name, header);
        }
        return headers;
    }

    private static void requireAllowed(String variable, String header) {
        try {
            HttpRequest.Builder unused = HttpRequest.newBuilder().header(header, "");
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(variable + ": " + header + " is for HTTP itself to set", e);
        }
    }

    private static String decoded(String variable, String header, String value) {
        try {
            String decoded = URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
            if (decoded.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
                return decoded;
            }
        } catch (IllegalArgumentException _) {
            // said below, without the value
        }
        throw new IllegalArgumentException(variable + ": the value of " + header + " is not percent-encoded text");
    }

    /// Sends all of it.
    ///
    /// @throws IOException when a part was not taken; those before it were
    public Sent send(RunTrace trace) throws IOException, InterruptedException {
        var taken = new Taken();
        for (Iterator<RunTrace.Part> parts = trace.parts().iterator(); parts.hasNext(); ) {
            RunTrace.Part part = parts.next();
            try {
                taken.add(part, answer(part));
            } catch (IOException e) {
                throw new IOException(
                        e.getMessage() + "; it took " + (taken.spans - taken.rejected)
                                + " spans before; what is sent again has the same ids",
                        e);
            }
        }
        return taken.sent();
    }

    private final class Taken {
        private final List<String> said = new ArrayList<>();
        private int requests;
        private long spans;
        private long rejected;

        void add(RunTrace.Part part, HttpResponse<byte[]> answer) throws IOException {
            requests++;
            spans += part.spans();
            String type = HttpPoster.mediaType(answer);
            if (answer.body().length == 0 && (type.isEmpty() || type.equals(JSON))) {
                return; // some receivers have nothing to say
            }
            JsonNode partial = document(answer).path("partialSuccess");
            long refused = partial.path("rejectedSpans").asLong(); // 64-bit numbers may be strings
            rejected += Math.clamp(refused, 0, part.spans());
            String message = shown(partial.path("errorMessage").asText());
            if (!message.isEmpty() && !said.contains(message)) {
                said.add(message);
            }
        }

        Sent sent() {
            return new Sent(requests, spans, rejected, said);
        }
    }

    /// What a proxy answers, or a page for people, is not the answer of a receiver.
    private JsonNode document(HttpResponse<byte[]> answer) throws IOException {
        String type = HttpPoster.mediaType(answer);
        try {
            JsonNode document = type.equals(JSON) ? MAPPER.readTree(answer.body()) : null;
            if (document != null && document.isObject()) {
                return document;
            }
        } catch (JsonProcessingException _) {
            // said below
        }
        throw new IOException(receiver() + " answers with '" + shown(type) + "', which is no receiver of traces");
    }

    /// The answer with which a part was taken.
    private HttpResponse<byte[]> answer(RunTrace.Part part) throws IOException, InterruptedException {
        byte[] body = part.json().getBytes(StandardCharsets.UTF_8);
        Duration next = PAUSE;
        for (int tries = 1; ; tries++) {
            String trouble;
            boolean lasts;
            Duration asked = Duration.ZERO;
            try {
                HttpResponse<byte[]> answer = poster.post(traces, headers, body, HttpPoster.atMost(ANSWER_OCTETS_MAX));
                if (answer.statusCode() == 200) {
                    return answer;
                }
                trouble = receiver() + " answers " + answer.statusCode() + reason(answer);
                lasts = !FOR_THE_MOMENT.contains(answer.statusCode());
                asked = retryAfter(answer);
            } catch (IOException e) {
                trouble = receiver() + ": " + e.getMessage();
                lasts = isOfTls(e);
            }
            if (lasts) {
                throw new IOException(trouble);
            }
            Duration wait = asked.compareTo(next) > 0 ? asked : next;
            if (tries == TRIES || wait.compareTo(PAUSE_MAX) > 0) {
                throw new IOException(trouble
                        + (tries == TRIES
                                ? ", also when asked " + TRIES + " times"
                                : "; it asks for " + wait.toSeconds() + " s of patience"));
            }
            waited = waited.plus(wait);
            if (waited.compareTo(PATIENCE) > 0) {
                throw new IOException(trouble + ", after " + PATIENCE.toMinutes() + " minutes of waiting in all");
            }
            progress.say(trouble + "; it is sent again in " + wait.toSeconds() + " s");
            pause.take(wait);
            next = next.multipliedBy(2);
        }
    }

    /// Whether a certificate, for example, does not hold: it does not become better by waiting.
    private static boolean isOfTls(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            if (each instanceof SSLException) {
                return true;
            }
        }
        return false;
    }

    private String receiver() {
        return "the receiver at " + HttpPoster.shown(traces);
    }

    /// Why, if it says so as OTLP has it: a `Status`.
    private static String reason(HttpResponse<byte[]> answer) {
        if (!HttpPoster.mediaType(answer).equals(JSON)) {
            return "";
        }
        try {
            String message =
                    shown(MAPPER.readTree(answer.body()).path("message").asText());
            return message.isEmpty() ? "" : ": " + message;
        } catch (IOException _) {
            return "";
        }
    }

    /// Seconds; a date there is read as none.
    private static Duration retryAfter(HttpResponse<byte[]> answer) {
        String value = answer.headers().firstValue("retry-after").orElse("");
        return value.matches("[0-9]{1,6}") ? Duration.ofSeconds(Long.parseLong(value)) : Duration.ZERO;
    }

    private static String shown(String text) {
        return Printable.of(text, SHOWN_CHARS);
    }
}
