package blackbox.evidence.time;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.bouncycastle.asn1.ASN1BitString;
import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.ASN1Integer;
import org.bouncycastle.asn1.ASN1Sequence;
import org.bouncycastle.asn1.ASN1String;

/// What an authority answered (RFC 3161, section 2.4.2).
public sealed interface TimeAnswer {

    /// The body's media type (RFC 3161, section 3.4).
    String MEDIA_TYPE = "application/timestamp-reply";

    /// The request was granted as it was. The token is not checked yet: see [TimeAuthorities].
    record Granted(TimeToken token) implements TimeAnswer {}

    /// There is no token, or one with modifications (status 1), which is not accepted: no part of the request
    /// can be modified without making the stamp useless.
    ///
    /// @param status PKIStatus, a number
    /// @param why in words, including the authority's own
    record Rejected(int status, String why) implements TimeAnswer {}

    /// Reads an answer.
    ///
    /// @throws MalformedTimeStampException when the octets are not one
    static TimeAnswer parse(byte[] octets) throws MalformedTimeStampException {
        ASN1Sequence answer = Der.sequence(octets, TimeToken.OCTETS_MAX);
        try {
            ASN1Sequence info = ASN1Sequence.getInstance(answer.getObjectAt(0));
            int status = ASN1Integer.getInstance(info.getObjectAt(0)).intValueExact();
            if (status != 0) {
                return new Rejected(status, why(status, info));
            }
            if (answer.size() != 2) {
                throw new MalformedTimeStampException("an answer that grants a time stamp but contains none");
            }
            return new Granted(TimeToken.parse(Der.octets(answer.getObjectAt(1))));
        } catch (IOException | RuntimeException e) {
            throw new MalformedTimeStampException("an answer that is not a time-stamp response", e);
        }
    }

    private static String why(int status, ASN1Sequence info) {
        var words = new ArrayList<String>();
        words.add(statusName(status));
        for (int i = 1; i < info.size(); i++) {
            ASN1Encodable part = info.getObjectAt(i);
            if (part instanceof ASN1Sequence texts) {
                for (ASN1Encodable text : texts) {
                    words.add("'" + (text instanceof ASN1String string ? string.getString() : text) + "'");
                }
            } else if (part instanceof ASN1BitString bits) {
                words.addAll(failures(bits));
            }
        }
        return String.join(", ", words);
    }

    private static String statusName(int status) {
        return switch (status) {
            case 1 -> "granted with modifications";
            case 2 -> "rejected";
            case 3 -> "waiting";
            case 4 -> "a revocation is imminent";
            case 5 -> "a revocation has happened";
            default -> "status " + status;
        };
    }

    /// PKIFailureInfo's names, for the bits that RFC 3161 knows.
    private static List<String> failures(ASN1BitString bits) {
        byte[] octets = bits.getBytes();
        var names = new ArrayList<String>();
        for (int bit = 0; bit < octets.length * 8; bit++) {
            if ((octets[bit / 8] & 0x80 >>> bit % 8) != 0) {
                names.add(
                        switch (bit) {
                            case 0 -> "badAlg";
                            case 2 -> "badRequest";
                            case 5 -> "badDataFormat";
                            case 14 -> "timeNotAvailable";
                            case 15 -> "unacceptedPolicy";
                            case 16 -> "unacceptedExtension";
                            case 17 -> "addInfoNotAvailable";
                            case 25 -> "systemFailure";
                            default -> "failure " + bit;
                        });
            }
        }
        return names;
    }
}
