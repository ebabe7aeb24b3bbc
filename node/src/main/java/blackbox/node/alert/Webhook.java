package blackbox.node.alert;

import blackbox.files.AtomicFiles;
import blackbox.files.BoundedFiles;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Posts alerts as Standard Webhooks (version 1) has it: a `webhook-id` that stays the same when it is sent again, a
/// `webhook-timestamp`, and a `webhook-signature` over both and the body, by HMAC-SHA256 with a secret that the
/// receiver knows. Redirects are not followed.
public final class Webhook implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int SECRET_OCTETS = 32;
    private static final String PREFIX = "whsec_";
    private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "[::1]", "localhost");

    private final HttpClient client = HttpClient.newBuilder()
            .connectTimeout(PATIENCE)
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
    private final InstantSource clock;

    public Webhook(InstantSource clock) {
        this.clock = clock;
    }

    /// The secret with which messages are signed, for the receiver: made when it is asked for first.
    ///
    /// @throws IOException when the file is none of this, or cannot be read or written
    public static String secret(Path file, SecureRandom random) throws IOException {
        if (!Files.exists(file)) {
            make(file, random);
        }
        String secret = new String(BoundedFiles.read(file, 1_000), StandardCharsets.US_ASCII).strip();
        try {
            boolean isSecret = secret.startsWith(PREFIX)
                    && Base64.getDecoder().decode(secret.substring(PREFIX.length())).length >= SECRET_OCTETS - 8;
            if (isSecret) {
                return secret;
            }
        } catch (IllegalArgumentException _) {
            // said below
        }
        throw new IOException(file + " is no secret of a webhook (" + PREFIX + " and at least 24 octets in base64);"
                + " delete it, and another one is made");
    }

    /// Of several processes that make one at once, the first does.
    private static void make(Path file, SecureRandom random) throws IOException {
        var octets = new byte[SECRET_OCTETS];
        random.nextBytes(octets);
        String made = PREFIX + Base64.getEncoder().encodeToString(octets) + "\n";
        Path mine = file.resolveSibling(
                "." + file.getFileName() + "." + ProcessHandle.current().pid());
        AtomicFiles.onDisk()
                .replace(mine, made.getBytes(StandardCharsets.US_ASCII), PosixFilePermissions.fromString("rw-------"));
        try {
            Files.createLink(file, mine);
        } catch (FileAlreadyExistsException _) {
            // another process was first
        }
        AtomicFiles.delete(mine);
    }

    /// The address of a receiver.
    ///
    /// @throws IllegalArgumentException with a clause that says why it is none
    public static URI address(String text) {
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
                    "alerts say what an agent did: they go to https, or to this host itself");
        }
        return address;
    }

    /// Posts a message, and waits for the answer.
    ///
    /// @param secret as [#secret] gives it
    /// @return the status with which it was answered; 200 to 299: it was taken
    /// @throws IOException when there is no complete answer in time
    public int post(URI to, String secret, String id, String body) throws IOException, InterruptedException {
        long seconds = clock.instant().getEpochSecond();
        HttpRequest request = HttpRequest.newBuilder(to)
                .timeout(PATIENCE)
                .header("Content-Type", "application/json")
                .header("webhook-id", id)
                .header("webhook-timestamp", Long.toString(seconds))
                .header("webhook-signature", "v1," + signature(secret, id + "." + seconds + "." + body))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        var pending = client.sendAsync(request, BodyHandlers.discarding());
        try {
            // The request's own timeout ends with the answer's head.
            return pending.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).statusCode();
        } catch (TimeoutException e) {
            pending.cancel(true);
            throw new IOException("no complete answer within " + PATIENCE.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            String why = cause.getMessage();
            throw new IOException(why == null ? cause.getClass().getSimpleName() : why, e);
        }
    }

    /// An address without what may be a secret of the receiver's: its path.
    static String shown(URI address) {
        int port = address.getPort();
        return address.getScheme() + "://" + address.getHost() + (port < 0 ? "" : ":" + port);
    }

    private static String signature(String secret, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            byte[] key = Base64.getDecoder().decode(secret.substring(PREFIX.length()));
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return Base64.getEncoder().encodeToString(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
