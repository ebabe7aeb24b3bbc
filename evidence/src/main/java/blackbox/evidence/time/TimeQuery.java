package blackbox.evidence.time;

import blackbox.schemas.Hash;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.bouncycastle.asn1.nist.NISTObjectIdentifiers;
import org.bouncycastle.tsp.TimeStampRequestGenerator;

/// What is sent to a time-stamping authority (RFC 3161, section 2.4.1): the SHA-256 of what is to be stamped,
/// a nonce that the answer must repeat, and the request to include the authority's certificates.
public final class TimeQuery {

    /// The body's media type (RFC 3161, section 3.4).
    public static final String MEDIA_TYPE = "application/timestamp-query";

    private static final int NONCE_BITS = 64;

    private final Hash imprint;
    private final BigInteger nonce;
    private final byte[] octets;

    private TimeQuery(Hash imprint, BigInteger nonce, byte[] octets) {
        this.imprint = imprint;
        this.nonce = nonce;
        this.octets = octets;
    }

    /// A query for `imprint` whose nonce is 64 bits of `random`, which must not be guessable.
    public static TimeQuery create(Hash imprint, RandomGenerator random) {
        var nonce = new BigInteger(NONCE_BITS, Random.from(random));
        var generator = new TimeStampRequestGenerator();
        generator.setCertReq(true);
        try {
            byte[] octets = generator
                    .generate(NISTObjectIdentifiers.id_sha256, imprint.toBytes(), nonce)
                    .getEncoded();
            return new TimeQuery(imprint, nonce, octets);
        } catch (IOException e) {
            throw new UncheckedIOException("a time-stamp query in memory", e);
        }
    }

    /// The SHA-256 that is to be stamped.
    public Hash imprint() {
        return imprint;
    }

    /// The nonce, which the stamp must repeat.
    public BigInteger nonce() {
        return nonce;
    }

    /// The query in DER.
    public byte[] encoded() {
        return octets.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TimeQuery query && Arrays.equals(octets, query.octets);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(octets);
    }
}
