package blackbox.recorder.keys;

import blackbox.schemas.Sha256;
import blackbox.schemas.net.IpAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.PrivateKey;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import javax.security.auth.x500.X500Principal;

/// A private key with the certificates that say whose it is: what a server shows its clients over TLS, or
/// what a report is signed with.
///
/// @param chain the key's own certificate, then each issuer's that others may lack
public record CertifiedKey(PrivateKey key, List<X509Certificate> chain) {

    /// The form of a name in a certificate (RFC 5280, section 4.2.1.6).
    private static final Integer DNS_NAME = 2;

    private static final Set<PosixFilePermission> OTHERS = Set.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);

    public CertifiedKey {
        chain = List.copyOf(chain);
        if (chain.isEmpty()) {
            throw new IllegalArgumentException("a key needs a certificate here");
        }
    }

    /// Names the certificate; whatever a provider's key would say of itself is not repeated.
    @Override
    public String toString() {
        return "a key of " + subject();
    }

    /// The host names that the certificate is for, wildcards among them.
    ///
    /// @throws IllegalArgumentException when its list of names cannot be read
    public List<String> hostNames() {
        return alternatives(DNS_NAME::equals);
    }

    /// Those of these host names and IP addresses that the certificate is not for, whatever form they are
    /// in.
    ///
    /// @throws IllegalArgumentException when its list of names cannot be read
    List<String> lacking(Collection<String> asked) {
        Set<String> certified =
                alternatives(_ -> true).stream().map(CertifiedKey::canonical).collect(Collectors.toSet());
        return asked.stream()
                .filter(each -> !certified.contains(canonical(each)))
                .toList();
    }

    private static String canonical(String name) {
        String address = IpAddress.canonical(name);
        return address == null ? name.toLowerCase(Locale.ROOT) : address;
    }

    private List<String> alternatives(Predicate<Object> form) {
        try {
            Collection<List<?>> alternatives = chain.getFirst().getSubjectAlternativeNames();
            return alternatives == null
                    ? List.of()
                    : alternatives.stream()
                            .filter(each -> form.test(each.getFirst()))
                            .map(each -> String.valueOf(each.get(1)))
                            .toList();
        } catch (CertificateParsingException e) {
            throw new IllegalArgumentException("the certificate's alternative names cannot be read", e);
        }
    }

    /// Reads what somebody gave.
    ///
    /// @param chain certificates in PEM, the key's own first
    /// @param key a private key in PEM: PKCS#8, not encrypted
    /// @throws IllegalArgumentException when a file cannot be read or is not of its kind, the key is of a kind that
    ///     cannot be used or does not belong to the certificate, a certificate is not valid now, or others may
    ///     read the key
    public static CertifiedKey read(Path chain, Path key, Instant now) {
        CertifiedKey read = CertifiedKeyPem.parse(CertifiedKeyPem.read(chain), chain, CertifiedKeyPem.read(key), key);
        CertifiedKeyPem.checkTimes(read, chain, now);
        try {
            if (!Collections.disjoint(Files.getPosixFilePermissions(key), OTHERS)) {
                throw new IllegalArgumentException("the key file " + key + " must be readable by its owner alone: run"
                        + " chmod 600 on it, and consider who may have read it");
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("the permissions of " + key + " cannot be read", e);
        }
        return read;
    }

    /// Whose key it is.
    public X500Principal subject() {
        return chain.getFirst().getSubjectX500Principal();
    }

    /// Whether nobody else vouches for the key.
    public boolean isSelfSigned() {
        return chain.getFirst().getIssuerX500Principal().equals(subject());
    }

    /// SHA-256 of the key's own certificate, as `openssl x509 -fingerprint -sha256` prints it.
    public String fingerprint() {
        try {
            byte[] digest = Sha256.digest().digest(chain.getFirst().getEncoded());
            return HexFormat.ofDelimiter(":").formatHex(digest).toUpperCase(Locale.ROOT);
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException("a certificate that was read cannot be encoded", e);
        }
    }
}
