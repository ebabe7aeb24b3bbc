package blackbox.cli.options;

import blackbox.cli.exit.CommandException;
import blackbox.evidence.sign.CryptoProvider;
import blackbox.node.serve.ApiAddress;
import blackbox.recorder.RecorderException;
import blackbox.recorder.keys.CertifiedKey;
import blackbox.recorder.keys.KeyAccess;
import blackbox.recorder.keys.TlsKeyFiles;
import blackbox.schemas.Progress;
import blackbox.schemas.folder.DataFolder;
import blackbox.schemas.net.IpAddress;
import java.io.IOException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Where `serve` listens, and how a client's connection is protected there; add it as `@Mixin`.
public final class ListenOptions {

    private static final int PORT_MAX = 65_535;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:7575",
            description = "Address of the API; port 0 takes any free port (default: ${DEFAULT-VALUE}). Beyond loopback"
                    + " it speaks TLS.")
    private String listen = "127.0.0.1:7575";

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "A host name under which clients ask for the API, besides localhost and IP addresses; may be"
                    + " repeated.")
    private List<String> names = new ArrayList<>();

    @Option(
            names = "--tls-cert",
            paramLabel = "FILE",
            description = "Speak TLS with this certificate, followed by those of its issuers (PEM). Without it, and"
                    + " beyond loopback, one is made and kept in <data>/keys/tls.crt; clients can check its"
                    + " fingerprint, which is printed at the start.")
    @Nullable
    private Path certificate;

    @Option(
            names = "--tls-key",
            paramLabel = "FILE",
            description =
                    "The certificate's private key: PEM, PKCS#8, not encrypted, readable by its owner alone. RSA of"
                            + " 2048 bits or more, ECDSA on P-256, P-384 or P-521, Ed25519 or Ed448.")
    @Nullable
    private Path key;

    @Option(
            names = "--insecure",
            description = "Listen beyond loopback without TLS: the token and all answers can be read in transit.")
    private boolean insecure;

    /// The address to listen on.
    public ApiAddress address() {
        int colon = listen.lastIndexOf(':');
        int port = port(listen.substring(colon + 1));
        String host = listen.substring(0, Math.max(colon, 0));
        if (IpAddress.withoutBrackets(host).isEmpty() || port < 0) {
            throw CommandException.badInput("--listen takes HOST:PORT, not '" + listen + "'");
        }
        try {
            return new ApiAddress(host, port, names, ApiAddress.PATIENCE);
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput("--name: " + e.getMessage());
        }
    }

    private static int port(String text) {
        try {
            int port = Integer.parseInt(text);
            return port <= PORT_MAX ? port : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /// Refuses options that contradict each other, before anything is done.
    public void check(ApiAddress address) {
        if ((certificate == null) != (key == null)) {
            throw CommandException.badInput("--tls-cert and --tls-key must be given together or not at all");
        }
        if (insecure && certificate != null) {
            throw CommandException.badInput("--insecure means no TLS; give either it or --tls-cert");
        }
        if (wantsTls(address) && CryptoProvider.current().isFips()) {
            throw CommandException.badInput("in FIPS mode `serve` has no TLS, because it would not come from the"
                    + " certified module; listen on 127.0.0.1 behind a certified proxy");
        }
    }

    private boolean wantsTls(ApiAddress address) {
        return certificate != null || (!insecure && !isLoopback(address));
    }

    /// The key and certificate that the service presents to its clients; null without TLS.
    ///
    /// @param progress is told when a key is made, and why
    /// @throws RecorderException when the data folder's own key cannot be used or made
    public @Nullable CertifiedKey tls(DataFolder data, ApiAddress address, KeyAccess access, Progress progress)
            throws RecorderException, IOException {
        if (!wantsTls(address)) {
            return null;
        }
        if (certificate == null || key == null) {
            return TlsKeyFiles.loadOrCreate(data.keys(), address.certifiedNames(), access, progress);
        }
        try {
            return CertifiedKey.read(certificate, key, access.clock().instant());
        } catch (IllegalArgumentException e) {
            throw CommandException.badInput("--tls-cert, --tls-key: " + e.getMessage());
        }
    }

    private static boolean isLoopback(ApiAddress address) {
        try {
            return address.isLoopback();
        } catch (UnknownHostException _) {
            throw CommandException.badInput("--listen: the host '" + address.host() + "' cannot be resolved");
        }
    }
}
