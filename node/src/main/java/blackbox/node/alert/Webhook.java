package blackbox.node.alert;

import blackbox.files.AtomicFiles;
import blackbox.files.BoundedFiles;
import blackbox.recorder.outbound.HttpPoster;
import java.io.IOException;
import java.net.URI;
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
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Posts alerts as Standard Webhooks (version 1) has it: a `webhook-id` that stays the same when it is sent again, a
/// `webhook-timestamp`, and a `webhook-signature` over both and the body, by HMAC-SHA256 with a secret that the
/// receiver knows. Redirects are not followed.
public final class Webhook implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int SECRET_OCTETS = 32;
    private static final String PREFIX = "whsec_";

    private final HttpPoster poster = new HttpPoster(PATIENCE);
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

    /// Posts a message, and waits for the answer.
    ///
    /// @param secret as [#secret] gives it
    /// @return the status with which it was answered; 200 to 299: it was taken
    /// @throws IOException when there is no complete answer in time
    public int post(URI to, String secret, String id, String body) throws IOException, InterruptedException {
        long seconds = clock.instant().getEpochSecond();
        Map<String, String> headers = Map.of(
                "Content-Type",
                "application/json",
                "webhook-id",
                id,
                "webhook-timestamp",
                Long.toString(seconds),
                "webhook-signature",
                "v1," + signature(secret, id + "." + seconds + "." + body));
        return poster.post(to, headers, body.getBytes(StandardCharsets.UTF_8), BodyHandlers.discarding())
                .statusCode();
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
        poster.close();
    }
}
