package blackbox.recorder.anchor;

import blackbox.evidence.log.TrustPolicy;
import blackbox.evidence.sign.NoteVerifiers;
import blackbox.evidence.time.TimeAuthorities;
import blackbox.recorder.RecorderException;
import blackbox.recorder.RecorderException.Code;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Who is asked to anchor the log of runs, and whose answers are trusted.
///
/// @param policy the witnesses that are trusted, and the quorum
/// @param witnesses the address of each, by its name in the policy
/// @param authorities the time-stamping authorities' addresses, in the order in which their stamps are
///     numbered
/// @param trusted the certificates that their stamps must lead to
public record AnchorSettings(
        TrustPolicy policy, Map<String, URI> witnesses, List<URI> authorities, TimeAuthorities trusted) {

    private static final String TSA = "tsa ";

    public AnchorSettings {
        witnesses = Map.copyOf(witnesses);
        authorities = List.copyOf(authorities);
    }

    /// Reads the settings in a data folder's keys: the trust policy, the certificates of time-stamping authorities, and
    /// their list, with a line `tsa <address>` for each, and lines that begin with `#`.
    ///
    /// @param more further authorities to ask
    /// @throws RecorderException `ANCHOR` when a file exists and cannot be used
    public static AnchorSettings read(DataFolder data, List<URI> more) throws RecorderException {
        Path file = data.policy();
        try {
            String policy = Files.exists(file) ? Files.readString(file) : "quorum none\n";
            TrustPolicy read = TrustPolicy.parse(policy, NoteVerifiers::parse);
            Map<String, URI> witnesses = WitnessAddresses.parse(policy);
            file = data.anchorsConf();
            var authorities = new LinkedHashSet<>(Files.exists(file) ? addresses(Files.readString(file)) : List.of());
            authorities.addAll(more);
            file = data.timeAuthorities();
            return new AnchorSettings(
                    read, witnesses, List.copyOf(authorities), TimeAuthorities.of(certificates(file)));
        } catch (IOException | IllegalArgumentException | CertificateException e) {
            throw new RecorderException(Code.ANCHOR, "cannot use " + file + ": " + e.getMessage(), e);
        }
    }

    private static List<URI> addresses(String conf) {
        var addresses = new ArrayList<URI>();
        for (String line : conf.split("\n", -1)) {
            String item = line.strip();
            if (item.startsWith(TSA)) {
                addresses.add(URI.create(item.substring(TSA.length()).strip()));
            } else if (!item.isEmpty() && !item.startsWith("#")) {
                throw new IllegalArgumentException("a line is 'tsa <address>' or a comment, not '" + item + "'");
            }
        }
        return addresses;
    }

    /// The certificates in a folder's `*.pem` files; none if there is no folder.
    ///
    /// @throws CertificateException when a file holds none
    public static List<X509Certificate> certificates(Path folder) throws IOException, CertificateException {
        var certificates = new ArrayList<X509Certificate>();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : files.filter(name -> name.toString().endsWith(".pem"))
                        .sorted()
                        .toList()) {
                    certificates.addAll(TimeAuthorities.certificates(Files.readAllBytes(file)));
                }
            }
        }
        return certificates;
    }

    /// Whether there is anyone to ask.
    public boolean isEmpty() {
        return witnesses.isEmpty() && authorities.isEmpty();
    }
}
