package blackbox.recorder.anchor;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Posts small bodies to outside parties and reads small answers, within a time limit, up to a maximum
/// length, and without following redirects. Safe to share.
public final class AnchorClient implements AutoCloseable {

    private final HttpClient client;
    private final Duration timeout;

    /// @param timeout for one answer, from the first octet sent to the last one read
    public AnchorClient(Duration timeout) {
        this.timeout = timeout;
        this.client = HttpClient.newBuilder()
                .connectTimeout(timeout)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    /// An answer.
    ///
    /// @param contentType its media type, without parameters, in lower case; empty if it has none
    record Answer(int status, String contentType, byte[] body) {}

    /// Posts `body`.
    ///
    /// @throws IOException when there is no answer in time, or it is longer than `octetsMax`
    Answer post(URI to, String contentType, byte[] body, int octetsMax) throws IOException, InterruptedException {
        String scheme = String.valueOf(to.getScheme());
        if (!scheme.equals("http") && !scheme.equals("https")) {
            throw new IOException("an address is http or https, not '" + to + "'");
        }
        HttpRequest request = HttpRequest.newBuilder(to)
                .timeout(timeout)
                .header("Content-Type", contentType)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        var pending = client.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), octetsMax));
        try {
            // The request's own timeout covers the answer only up to its headers.
            HttpResponse<byte[]> response = pending.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            String type = response.headers().firstValue("content-type").orElse("");
            String bare = type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
            return new Answer(response.statusCode(), bare, response.body());
        } catch (TimeoutException e) {
            pending.cancel(true);
            throw new IOException("no complete answer from " + to + " within " + timeout.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw new IOException("no answer from " + to + ": " + reason(e), e);
        }
    }

    private static String reason(ExecutionException failure) {
        Throwable cause = failure.getCause() == null ? failure : failure.getCause();
        String message = cause.getMessage();
        return message == null ? cause.getClass().getSimpleName() : message;
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
