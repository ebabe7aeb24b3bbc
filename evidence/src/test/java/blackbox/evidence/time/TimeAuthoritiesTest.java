package blackbox.evidence.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.time.TestTimeAuthority.Algorithm;
import blackbox.evidence.time.TestTimeAuthority.Purpose;
import blackbox.evidence.time.TimeVerdict.Refused;
import blackbox.evidence.time.TimeVerdict.Stamped;
import blackbox.schemas.Hash;
import blackbox.schemas.Seeded;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TimeAuthoritiesTest {

    private static final byte[] DATA = "what is stamped\n".getBytes(StandardCharsets.UTF_8);
    private static final Hash IMPRINT = Hash.sha256(DATA);
    private static final BigInteger NONCE = new BigInteger("8446744073709551615");
    private static final Instant NOW = Instant.parse("2026-11-22T03:04:05.678Z");

    @ParameterizedTest
    @EnumSource
    void aStampIsBelievedForItsDataAndItsQuery(Algorithm algorithm) throws Exception {
        TestTimeAuthority authority = TestTimeAuthority.create(algorithm);
        TimeQuery query = TimeQuery.create(IMPRINT, Seeded.random("time"));
        TimeToken token = granted(authority.answer(query.encoded(), NOW));
        TimeAuthorities trusted = TimeAuthorities.of(List.of(authority.root()));

        var stamped = assertInstanceOf(Stamped.class, trusted.verify(token, query));
        assertEquals(
                new Stamped(
                        NOW,
                        Duration.ofMillis(1500),
                        "CN=Test Time Stamps",
                        BigInteger.valueOf(1000),
                        TestTimeAuthority.POLICY),
                stamped);
        assertEquals(NOW.plusMillis(1500), stamped.notLaterThan());
        assertEquals(stamped, trusted.verify(TimeToken.ofResponse(token.response()), IMPRINT));
        assertEquals(
                stamped, TimeAuthorities.of(List.of(authority.certificate())).verify(token, IMPRINT));
        assertEquals(
                stamped,
                TimeAuthorities.of(
                                TimeAuthorities.certificates(authority.rootPem().getBytes(StandardCharsets.UTF_8)))
                        .verify(token, IMPRINT));
    }

    @Test
    void aStampForOtherDataOrFromAnotherIsRefused() throws Exception {
        TestTimeAuthority authority = TestTimeAuthority.create(Algorithm.ECDSA);
        TestTimeAuthority stranger = TestTimeAuthority.create(Algorithm.ECDSA);
        TimeAuthorities trusted = TimeAuthorities.of(List.of(authority.root()));
        TimeToken token = TimeToken.parse(authority.stamp(IMPRINT, NONCE, NOW, List.of(), false));

        refused("for other data", trusted.verify(token, Hash.ZERO));
        TimeQuery query = TimeQuery.create(IMPRINT, Seeded.random("nonce"));
        refused("its nonce is not the one", trusted.verify(token, query));
        refused("not trusted", TimeAuthorities.of(List.of(stranger.root())).verify(token, IMPRINT));
        refused("no time authority is trusted", TimeAuthorities.of(List.of()).verify(token, IMPRINT));
        // Same names, other keys: the path is built by name and must fail on the signature.
        TimeToken forged = TimeToken.parse(stranger.stamp(IMPRINT, NONCE, NOW, List.of(authority.root()), false));
        refused("not trusted", trusted.verify(forged, IMPRINT));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TIME_STAMPING")
    void onlyACertificateForTimeStampingAloneStamps(Purpose purpose) throws Exception {
        TestTimeAuthority authority =
                TestTimeAuthority.create(Algorithm.ECDSA, purpose, Instant.parse("2090-01-01T00:00:00Z"));
        TimeToken token = TimeToken.parse(authority.stamp(IMPRINT, NONCE, NOW, List.of(), false));
        refused(
                "no certificate for time stamping alone",
                TimeAuthorities.of(List.of(authority.root())).verify(token, IMPRINT));
    }

    @Test
    void aStampIsJudgedAsOfItsOwnTime() throws Exception {
        TestTimeAuthority authority =
                TestTimeAuthority.create(Algorithm.ECDSA, Purpose.TIME_STAMPING, Instant.parse("2021-01-01T00:00:00Z"));
        TimeAuthorities trusted = TimeAuthorities.of(List.of(authority.root()));
        Instant inTime = Instant.parse("2020-12-31T23:59:59Z");
        assertInstanceOf(
                Stamped.class,
                trusted.verify(TimeToken.parse(authority.stamp(IMPRINT, NONCE, inTime, List.of(), false)), IMPRINT));
        for (Instant outside : List.of(NOW, Instant.parse("2019-12-31T23:59:59Z"))) {
            TimeToken token = TimeToken.parse(authority.stamp(IMPRINT, NONCE, outside, List.of(), false));
            refused("as of the stamp's time", trusted.verify(token, IMPRINT));
            TimeAuthorities itself = TimeAuthorities.of(List.of(authority.certificate()));
            refused("as of the stamp's time", itself.verify(token, IMPRINT));
        }
    }

    @Test
    void whatIsNotSimplyGrantedIsNoStamp() throws Exception {
        TestTimeAuthority authority = TestTimeAuthority.create(Algorithm.ECDSA);
        byte[] token = authority.stamp(IMPRINT, NONCE, NOW, List.of(), false);
        for (int status = 1; status <= 6; status++) {
            byte[] response = TestTimeAuthority.response(status, token);
            assertInstanceOf(TimeAnswer.Rejected.class, TimeAnswer.parse(response));
            assertThrows(MalformedTimeStampException.class, () -> TimeToken.ofResponse(response));
        }
        var rejected = assertInstanceOf(
                TimeAnswer.Rejected.class, TimeAnswer.parse(TestTimeAuthority.refusal(2, "no clock", 14)));
        assertEquals(new TimeAnswer.Rejected(2, "rejected, 'no clock', timeNotAvailable"), rejected);
        assertThrows(
                MalformedTimeStampException.class, () -> TimeAnswer.parse(TestTimeAuthority.refusal(0, "well", 2)));
        assertThrows(MalformedTimeStampException.class, () -> TimeAnswer.parse(new byte[0]));
        assertThrows(MalformedTimeStampException.class, () -> TimeAnswer.parse(new byte[TimeToken.OCTETS_MAX + 1]));
    }

    @Test
    void noBitOfAKeptStampCanBeChanged() throws Exception {
        TestTimeAuthority authority = TestTimeAuthority.create(Algorithm.ECDSA);
        TimeAuthorities trusted = TimeAuthorities.of(List.of(authority.root()));
        byte[] kept = granted(authority.answer(
                        TimeQuery.create(IMPRINT, Seeded.random("flips")).encoded(), NOW))
                .response();
        assertInstanceOf(Stamped.class, verdict(trusted, kept));
        for (int bit = 0; bit < kept.length * 8; bit++) {
            kept[bit / 8] ^= (byte) (1 << bit % 8);
            assertInstanceOf(Refused.class, verdict(trusted, kept), "bit " + bit % 8 + " of octet " + bit / 8);
            kept[bit / 8] ^= (byte) (1 << bit % 8);
        }
        for (int length = 0; length < kept.length; length++) {
            assertInstanceOf(Refused.class, verdict(trusted, Arrays.copyOf(kept, length)));
        }
        assertInstanceOf(Refused.class, verdict(trusted, Arrays.copyOf(kept, kept.length + 1)));
    }

    @Test
    void noOctetOfAnRsaStampCanBeChanged() throws Exception {
        TestTimeAuthority authority = TestTimeAuthority.create(Algorithm.RSA);
        TimeAuthorities trusted = TimeAuthorities.of(List.of(authority.root()));
        byte[] kept = TimeToken.parse(authority.stamp(IMPRINT, NONCE, NOW, List.of(), false))
                .response();
        for (int i = 0; i < kept.length; i++) {
            for (int flip : new int[] {1 << i % 8, 0xff}) {
                kept[i] ^= (byte) flip;
                assertInstanceOf(Refused.class, verdict(trusted, kept), "octet " + i);
                kept[i] ^= (byte) flip;
            }
        }
    }

    /// An authority may send what no signature of the path covers: certificates beside the path, and unsigned
    /// attributes. A change there may pass, and then nothing that is said changes.
    @Test
    void whatNoSignatureCoversChangesNothingThatIsSaid() throws Exception {
        TestTimeAuthority authority = TestTimeAuthority.create(Algorithm.ECDSA);
        TestTimeAuthority other = TestTimeAuthority.create(Algorithm.RSA);
        TimeAuthorities trusted = TimeAuthorities.of(List.of(authority.root()));
        byte[] token = authority.stamp(IMPRINT, NONCE, NOW, List.of(other.root()), true);
        byte[] surplus = other.root().getEncoded();
        int first = indexOf(token, surplus);
        int attributes = indexOf(token, "anything at all".getBytes(StandardCharsets.UTF_8)) - 19;
        TimeVerdict untouched = trusted.verify(TimeToken.parse(token), IMPRINT);
        assertInstanceOf(Stamped.class, untouched);
        int passed = 0;
        for (int i = 0; i < token.length; i++) {
            token[i] ^= 1;
            TimeVerdict verdict = verdictOfToken(trusted, token);
            token[i] ^= 1;
            if (verdict instanceof Stamped) {
                assertEquals(untouched, verdict);
                boolean uncovered = i >= first && i < first + surplus.length || i >= attributes;
                assertTrue(uncovered, "octet " + i + " of " + token.length + ", surplus at " + first);
                passed++;
            }
        }
        assertTrue(passed > 0);
    }

    private static int indexOf(byte[] all, byte[] part) {
        for (int at = 0; at + part.length <= all.length; at++) {
            if (Arrays.equals(all, at, at + part.length, part, 0, part.length)) {
                return at;
            }
        }
        throw new AssertionError("not found");
    }

    private static TimeVerdict verdict(TimeAuthorities trusted, byte[] response) {
        try {
            return trusted.verify(TimeToken.ofResponse(response), IMPRINT);
        } catch (MalformedTimeStampException e) {
            return new Refused(String.valueOf(e.getMessage()));
        }
    }

    private static TimeVerdict verdictOfToken(TimeAuthorities trusted, byte[] token) throws IOException {
        try {
            return trusted.verify(TimeToken.parse(token), IMPRINT);
        } catch (MalformedTimeStampException e) {
            return new Refused(String.valueOf(e.getMessage()));
        }
    }

    private static TimeToken granted(byte[] response) throws MalformedTimeStampException {
        return assertInstanceOf(TimeAnswer.Granted.class, TimeAnswer.parse(response))
                .token();
    }

    private static void refused(String why, TimeVerdict verdict) {
        var refused = assertInstanceOf(Refused.class, verdict);
        assertTrue(refused.why().contains(why), refused.why());
    }
}
