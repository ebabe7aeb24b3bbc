package blackbox.bench.subject;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// `openssl speed`, the peer for everything whose limit is hashing or signatures.
public final class OpensslSpeed {
    private OpensslSpeed() {}

    /// SHA-256 hashes per second, on one core, of messages of `messageBytes` each.
    ///
    /// @param seconds how long openssl may measure; it counts its own CPU time, not the wall clock
    public static double sha256PerSecond(int messageBytes, int seconds) throws IOException, InterruptedException {
        String output = run("-mr", "-seconds", "" + seconds, "-bytes", "" + messageBytes, "-evp", "sha256");
        return bytesPerSecond(output) / messageBytes;
    }

    /// Ed25519 signatures verified per second, on one core.
    ///
    /// @param seconds how long openssl may measure signing, and then verifying
    public static double ed25519VerifiedPerSecond(int seconds) throws IOException, InterruptedException {
        return verifiedPerSecond(run("-mr", "-seconds", "" + seconds, "ed25519"));
    }

    private static String run(String... options) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("openssl", "speed"));
        command.addAll(List.of(options));
        Process openssl = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(openssl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (openssl.waitFor() != 0) {
            throw new IOException("openssl speed ended with exit code " + openssl.exitValue());
        }
        return output;
    }

    /// Reads the last figure of the line `+F6:NUMBER:BITS:NAME:SIGNED_PER_SECOND:VERIFIED_PER_SECOND`.
    private static double verifiedPerSecond(String output) throws IOException {
        for (String line : output.lines().toList()) {
            if (line.startsWith("+F6:") && line.contains(":Ed25519:")) {
                return Double.parseDouble(line.substring(line.lastIndexOf(':') + 1));
            }
        }
        throw new IOException("openssl speed printed no figure: " + output);
    }

    /// Reads the one figure of a machine-readable run: the line `+F:ALGORITHM_NUMBER:NAME:BYTES_PER_SECOND`.
    static double bytesPerSecond(String output) throws IOException {
        for (String line : output.lines().toList()) {
            if (line.startsWith("+F:")) {
                return Double.parseDouble(line.substring(line.lastIndexOf(':') + 1));
            }
        }
        throw new IOException("openssl speed printed no figure: " + output);
    }
}
