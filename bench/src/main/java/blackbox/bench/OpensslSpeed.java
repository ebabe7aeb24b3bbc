package blackbox.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/// `openssl speed`, the peer for everything that is bounded by hashing.
final class OpensslSpeed {
    private OpensslSpeed() {}

    /// SHA-256 hashes a second, on one core, of messages of `messageBytes` each.
    ///
    /// @param seconds how long openssl may measure; it counts its own CPU time, not the wall clock
    static double sha256PerSecond(int messageBytes, int seconds) throws IOException, InterruptedException {
        Process openssl = new ProcessBuilder(
                        "openssl",
                        "speed",
                        "-mr",
                        "-seconds",
                        "" + seconds,
                        "-bytes",
                        "" + messageBytes,
                        "-evp",
                        "sha256")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(openssl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (openssl.waitFor() != 0) {
            throw new IOException("openssl speed ended with exit code " + openssl.exitValue());
        }
        return bytesPerSecond(output) / messageBytes;
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
