package blackbox.cli.options;

import blackbox.cli.exit.CommandException;
import blackbox.recorder.RecorderException;
import blackbox.recorder.anchor.AnchorSettings;
import blackbox.recorder.anchor.TimeStamps;
import blackbox.recorder.keys.CertifiedKey;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.ReportKeyFiles;
import blackbox.recorder.outbound.HttpPoster;
import blackbox.report.ReportSigner;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// How a report is signed; add it as `@Mixin`.
public final class ReportOptions {

    @Option(
            names = "--signer-cert",
            paramLabel = "FILE",
            description =
                    "pdf: sign for this certificate, followed by those of its issuers (PEM). Without it, one is made"
                            + " and kept in <data>/keys/report.crt, whose fingerprint the report says.")
    @Nullable
    private Path certificate;

    @Option(
            names = "--signer-key",
            paramLabel = "FILE",
            description =
                    "pdf: that certificate's private key: PEM, PKCS#8, not encrypted, readable by its owner alone."
                            + " RSA of 2048 bits or more, or ECDSA on P-256, P-384 or P-521.")
    @Nullable
    private Path key;

    @Option(
            names = "--tsa",
            paramLabel = "URL",
            description =
                    "pdf: a time-stamping authority (RFC 3161) to ask before those in <data>/keys/anchors.conf, in"
                            + " turn until one stamps the signature; may be repeated. Its certificate, or its root's, is a .pem file"
                            + " in <data>/keys/time/.")
    private List<URI> authorities = new ArrayList<>();

    @Option(names = "--no-time-stamp", description = "pdf: ask no time-stamping authority.")
    private boolean unstamped;

    /// Refuses these options where they mean nothing, and those that contradict each other.
    ///
    /// @param reports whether the format is `pdf`
    public void requireFormat(boolean reports) {
        if (!reports && (certificate != null || key != null || !authorities.isEmpty() || unstamped)) {
            throw CommandException.badInput(
                    "--signer-cert, --signer-key, --tsa and --no-time-stamp apply to --format pdf only");
        }
        if ((certificate == null) != (key == null)) {
            throw CommandException.badInput("--signer-cert and --signer-key must be given together or not at all");
        }
        for (URI each : authorities) {
            String scheme = String.valueOf(each.getScheme());
            if (each.getHost() == null || !(scheme.equals("https") || scheme.equals("http"))) {
                throw CommandException.badInput(
                        "--tsa takes an address that begins with https:// or http://, not '" + each + "'");
            }
        }
        if (unstamped && !authorities.isEmpty()) {
            throw CommandException.badInput("--no-time-stamp means that nobody is asked; give either it or --tsa");
        }
    }

    /// What signs a report.
    ///
    /// @param client that the time authorities are asked with
    /// @param progress is told when a key is made, and why
    /// @throws RecorderException when the data folder's own key cannot be used or made, or its settings of
    ///     time authorities cannot be read
    public ReportSigner signer(DataFolder data, KeyAccess access, HttpPoster client, Progress progress)
            throws RecorderException {
        AnchorSettings settings = AnchorSettings.read(data, List.of());
        var asked = new ArrayList<>(authorities);
        settings.authorities().stream().filter(each -> !asked.contains(each)).forEach(asked::add);
        return new ReportSigner(
                key(data, access, progress),
                unstamped ? List.of() : asked,
                new TimeStamps(client, settings.trusted(), access.random()));
    }

    private CertifiedKey key(DataFolder data, KeyAccess access, Progress progress) throws RecorderException {
        if (certificate == null || key == null) {
            return ReportKeyFiles.loadOrCreate(data.keys(), access, progress);
        }
        try {
            CertifiedKey given =
                    CertifiedKey.read(certificate, key, access.clock().instant());
            String unfit = ReportSigner.unfit(given);
            if (unfit != null) {
                throw new IllegalArgumentException(unfit);
            }
            return given;
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput("--signer-cert, --signer-key: " + e.getMessage());
        }
    }
}
