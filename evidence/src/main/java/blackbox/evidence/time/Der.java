package blackbox.evidence.time;

import java.io.IOException;
import java.util.Arrays;
import org.bouncycastle.asn1.ASN1Encodable;
import org.bouncycastle.asn1.ASN1Encoding;
import org.bouncycastle.asn1.ASN1Primitive;
import org.bouncycastle.asn1.ASN1Sequence;

/// Reads ASN.1 in DER: lengths definite and shortest, nothing after the end. Reading and writing again yields
/// the same octets, so no octet can be changed without changing what is read.
final class Der {

    private Der() {}

    static ASN1Sequence sequence(byte[] octets, int octetsMax) throws MalformedTimeStampException {
        if (octets.length > octetsMax) {
            throw new MalformedTimeStampException(
                    "a time stamp of " + octets.length + " octets; at most " + octetsMax + " are read");
        }
        try {
            ASN1Primitive value = ASN1Primitive.fromByteArray(octets);
            if (value instanceof ASN1Sequence sequence && Arrays.equals(octets(sequence), octets)) {
                return sequence;
            }
        } catch (IOException | RuntimeException e) {
            throw new MalformedTimeStampException("a time stamp that is not ASN.1", e);
        }
        throw new MalformedTimeStampException("a time stamp that is not in DER");
    }

    /// The octets from which a value of [#sequence] was read.
    static byte[] octets(ASN1Encodable value) throws IOException {
        return value.toASN1Primitive().getEncoded(ASN1Encoding.DL);
    }
}
