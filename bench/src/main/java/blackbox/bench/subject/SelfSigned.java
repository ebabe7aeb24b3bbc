package blackbox.bench.subject;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// Certificates of P-256 that vouch for themselves, made by `openssl`.
final class SelfSigned {
    private SelfSigned() {}

    /// Writes two PEM files. The certificate is good for a day, also as an authority.
    ///
    /// @param names as OpenSSL writes alternative names: `DNS:localhost`
    static void write(Path certificate, Path key, List<String> names) throws IOException, InterruptedException {
        Launcher.time(List.of(
                "openssl",
                "req",
                "-x509",
                "-nodes",
                "-days",
                "1",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-subj",
                "/CN=blackbox bench",
                "-addext",
                "subjectAltName=" + String.join(",", names),
                "-keyout",
                key.toString(),
                "-out",
                certificate.toString()));
    }
}
