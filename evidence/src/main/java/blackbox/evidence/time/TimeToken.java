package blackbox.evidence.time;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.ASN1Integer;
import org.bouncycastle.asn1.ASN1Sequence;
import org.bouncycastle.asn1.ASN1Set;
import org.bouncycastle.asn1.ASN1TaggedObject;
import org.bouncycastle.asn1.DLSequence;
import org.bouncycastle.asn1.cms.CMSObjectIdentifiers;
import org.bouncycastle.asn1.cms.ContentInfo;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.tsp.GenTimeAccuracy;
import org.bouncycastle.tsp.TSPException;
import org.bouncycastle.tsp.TimeStampToken;
import org.bouncycastle.util.Selector;
import org.jspecify.annotations.Nullable;

/// A time-stamp token (RFC 3161, section 2.4.2) that was read but not checked yet: see [TimeAuthorities].
///
/// It is stored as the response that grants it, with status 0 and nothing else, which is what `openssl ts`
/// reads; the token inside is the authority's, octet for octet.
public final class TimeToken {

    /// Longest token or answer that is read, in octets.
    public static final int OCTETS_MAX = 64 << 10;

    private static final Pattern TIME =
            Pattern.compile("([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})" + "(\\.[0-9]{1,9})?Z");

    /// Tags of certificates, revocation lists, both, neither.
    private static final Set<String> BESIDE_THE_CONTENT = Set.of("", "a0", "a1", "a0a1");

    /// Tags of a signer: named by issuer or by key id, with signed attributes, with or without others.
    private static final Set<String> SIGNER = Set.of("a0", "a0a1", "80a0", "80a0a1");

    private final byte[] octets;
    private final TimeStampToken token;
    private final Instant time;

    private TimeToken(byte[] octets, TimeStampToken token, Instant time) {
        this.octets = octets;
        this.token = token;
        this.time = time;
    }

    /// Reads a token.
    ///
    /// @throws MalformedTimeStampException when the octets are not exactly one
    public static TimeToken parse(byte[] octets) throws MalformedTimeStampException {
        ASN1Sequence sequence = Der.sequence(octets, OCTETS_MAX);
        try {
            var token = new TimeStampToken(ContentInfo.getInstance(sequence));
            if (!hasItsTags(sequence, token)) {
                throw new MalformedTimeStampException("a time-stamp token with tags in the wrong places");
            }
            return new TimeToken(octets.clone(), token, time(token));
        } catch (IOException | TSPException | RuntimeException e) {
            throw new MalformedTimeStampException("not a time-stamp token", e);
        }
    }

    /// Reads what [#response] returned, and nothing else: a status that says more is refused, since no
    /// signature covers it.
    ///
    /// @throws MalformedTimeStampException when the octets are not exactly that
    public static TimeToken ofResponse(byte[] octets) throws MalformedTimeStampException {
        if (TimeAnswer.parse(octets) instanceof TimeAnswer.Granted(TimeToken token)
                && Arrays.equals(token.response(), octets)) {
            return token;
        }
        throw new MalformedTimeStampException("a response whose status is not just 'granted'");
    }

    /// The token, octet for octet.
    public byte[] encoded() {
        return octets.clone();
    }

    /// The response that grants this token, as it is stored.
    public byte[] response() {
        var granted = new DLSequence(new ASN1Integer(0));
        try {
            return Der.octets(new DLSequence(new ASN1Encodable[] {granted, Der.sequence(octets, OCTETS_MAX)}));
        } catch (IOException | MalformedTimeStampException e) {
            throw new IllegalStateException("a token that was read cannot be written", e);
        }
    }

    /// The time at which it says that it was made.
    Instant time() {
        return time;
    }

    /// How far off [#time] may be; null if the token does not say.
    @Nullable
    Duration accuracy() {
        GenTimeAccuracy accuracy = token.getTimeStampInfo().getGenTimeAccuracy();
        return accuracy == null
                ? null
                : Duration.ofSeconds(accuracy.getSeconds())
                        .plusMillis(accuracy.getMillis())
                        .plusNanos(accuracy.getMicros() * 1_000L);
    }

    TimeStampToken token() {
        return token;
    }

    /// The one certificate that matches the signer's identifier; null if there is none, or more than one.
    @Nullable
    X509CertificateHolder signer() throws IOException {
        @SuppressWarnings("unchecked") // the type of a library that is older than type parameters
        Selector<X509CertificateHolder> signer = token.getSID();
        var found = token.getCertificates().getMatches(signer);
        if (found.size() != 1) {
            return null;
        }
        // The library treats names as equal whatever kind of string they are written in; here they must be
        // equal octet for octet.
        X509CertificateHolder certificate = found.iterator().next();
        X500Name issuer = token.getSID().getIssuer();
        boolean same = issuer == null || Arrays.equals(Der.octets(issuer), Der.octets(certificate.getIssuer()));
        return same ? certificate : null;
    }

    /// All certificates that came with the token.
    List<X509Certificate> certificates() throws IOException, CertificateException {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        var certificates = new ArrayList<X509Certificate>();
        for (X509CertificateHolder holder : token.getCertificates().getMatches(null)) {
            var octets = new ByteArrayInputStream(holder.getEncoded());
            certificates.add((X509Certificate) factory.generateCertificate(octets));
        }
        return certificates;
    }

    /// Whether every tag is the one that belongs there (RFC 5652, section 5). The library that reads the
    /// structures goes by position alone for some of them.
    private static boolean hasItsTags(ASN1Sequence sequence, TimeStampToken token) throws IOException {
        ContentInfo content = ContentInfo.getInstance(sequence);
        ASN1Sequence data = ASN1Sequence.getInstance(content.getContent());
        boolean right = content.getContentType().equals(CMSObjectIdentifiers.signedData)
                && tags(sequence).equals("a0")
                && tags(ASN1Sequence.getInstance(data.getObjectAt(2))).equals("a0")
                && BESIDE_THE_CONTENT.contains(tags(data));
        for (ASN1Encodable signer : ASN1Set.getInstance(data.getObjectAt(data.size() - 1))) {
            ASN1Sequence parts = ASN1Sequence.getInstance(signer);
            right &= parts.getObjectAt(3) instanceof ASN1TaggedObject && SIGNER.contains(tags(parts));
        }
        for (X509CertificateHolder holder : token.getCertificates().getMatches(null)) {
            right &= holder.toASN1Structure().getSignature().getPadBits() == 0;
        }
        return right;
    }

    /// The identifier octets of the tagged parts of a sequence, in order, in hex.
    private static String tags(ASN1Sequence sequence) throws IOException {
        var tags = new StringBuilder();
        for (ASN1Encodable part : sequence) {
            if (part instanceof ASN1TaggedObject) {
                tags.append(HexFormat.of().toHexDigits(Der.octets(part)[0]));
            }
        }
        return tags.toString();
    }

    private static Instant time(TimeStampToken token) throws MalformedTimeStampException {
        String text = token.getTimeStampInfo().toASN1Structure().getGenTime().getTimeString();
        var parts = TIME.matcher(text);
        if (!parts.matches()) {
            throw new MalformedTimeStampException("a time stamp's time is not of RFC 3161's form: " + text);
        }
        String fraction = parts.group(7) == null ? "" : parts.group(7);
        try {
            return Instant.parse("%s-%s-%sT%s:%s:%s%sZ"
                    .formatted(
                            parts.group(1),
                            parts.group(2),
                            parts.group(3),
                            parts.group(4),
                            parts.group(5),
                            parts.group(6),
                            fraction));
        } catch (DateTimeException e) {
            throw new MalformedTimeStampException("a time stamp's time does not exist: " + text, e);
        }
    }
}
