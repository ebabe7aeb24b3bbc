package blackbox.recorder.outbound;

import blackbox.evidence.text.Printable;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Posts bodies of up to some MiB to outside parties and reads their answers, within a time limit and
/// without following redirects. Safe to share.
public final class HttpPoster implements AutoCloseable {

    private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "[::1]", "localhost");

    private static final int REASON_CHARS = 300;

    private final HttpClient client;
    private final Duration timeout;

    /// @param timeout for one answer, from the first octet sent to the last one read
    public HttpPoster(Duration timeout) {
        this.timeout = timeout;
        this.client = HttpClient.newBuilder()
                .connectTimeout(timeout)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    /// Takes an answer of up to so many octets; a longer one is an `IOException` of [#post].
    public static BodyHandler<byte[]> atMost(int octets) {
        return BodyHandlers.limiting(BodyHandlers.ofByteArray(), octets);
    }

    /// An answer's media type, without parameters, in lower case; empty if it has none.
    public static String mediaType(HttpResponse<?> answer) {
        String type = answer.headers().firstValue("content-type").orElse("");
        return type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    }

    /// The address of a receiver of what an agent did, which must not go over a network in the clear.
    ///
    /// @param what these are, such as `alerts`
    /// @throws IllegalArgumentException with a clause that says why it is none
    public static URI confidential(String text, String what) {
        URI address;
        try {
            address = new URI(text);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("it is no URL: " + e.getReason(), e);
        }
        String host = address.getHost();
        if (address.getPort() > 65_535) {
            throw new IllegalArgumentException("there is no port " + address.getPort());
        }
        if (host == null || address.getUserInfo() != null || address.getFragment() != null) {
            throw new IllegalArgumentException("it is https://HOST/PATH, without a user or a fragment");
        }
        boolean isSafe =
                "https".equals(address.getScheme()) || "http".equals(address.getScheme()) && LOOPBACK.contains(host);
        if (!isSafe) {
            throw new IllegalArgumentException(
                    what + " say what an agent did: they go to https, or to this host itself");
        }
        return address;
    }

    /// An address without what may be a secret of the receiver's: its path.
    public static String shown(URI address) {
        int port = address.getPort();
        return address.getScheme() + "://" + address.getHost() + (port < 0 ? "" : ":" + port);
    }

    /// Posts `body`, and waits for the whole answer.
    ///
    /// @throws IOException when there is none in time, or `answer` does not take it; the message is a
    ///     clause without the address
    /// @throws IllegalArgumentException when HTTP does not allow a header, or has it set by the client
    ///     itself
    public <T> HttpResponse<T> post(URI to, Map<String, String> headers, byte[] body, BodyHandler<T> answer)
            throws IOException, InterruptedException {
        String scheme = String.valueOf(to.getScheme());
        if (!scheme.equals("http") && !scheme.equals("https")) {
            throw new IOException("an address is http or https, not '" + to + "'");
        }
        HttpRequest.Builder request =
                HttpRequest.newBuilder(to).timeout(timeout).POST(HttpRequest.BodyPublishers.ofByteArray(body));
        headers.forEach(request::header);
        var pending = client.sendAsync(request.build(), answer);
        try {
            // The request's own timeout covers the answer only up to its headers.
            return pending.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            pending.cancel(true);
            throw new IOException("no complete answer within " + timeout.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw new IOException("no answer: " + reason(e), e);
        }
    }

    private static String reason(ExecutionException failure) {
        Throwable cause = failure.getCause() == null ? failure : failure.getCause();
        String message = cause.getMessage();
        // The receiver's own octets may be in it.
        return message == null ? cause.getClass().getSimpleName() : Printable.of(message, REASON_CHARS);
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
