package blackbox.evidence.attest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.sign.Ed25519Key;
import blackbox.schemas.Hash;
import java.math.BigInteger;
import java.security.AlgorithmParameters;
import java.security.KeyFactory;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DsseEnvelopeTest {

    private static final String PUBLISHED = """
            {"payload": "aGVsbG8gd29ybGQ=",
             "payloadType": "http://example.com/HelloWorld",
             "signatures": [{"sig": "A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA=="}]}
            """;
    private static final Ed25519Key KEY = Ed25519Key.create("blackbox/log", new SecureRandom());
    private static final Ed25519Key OTHER = Ed25519Key.create("blackbox/log", new SecureRandom());
    private static final InTotoStatement STATEMENT = new InTotoStatement(
            Map.of("events.parquet", Hash.sha256(new byte[] {1})),
            InTotoStatement.BUNDLE_V1,
            Map.of("run", "01j00000000000000000000000"));

    /// The example that DSSE's protocol page publishes: ECDSA over P-256, r and s one after the other.
    @Test
    void thePublishedExampleVerifies() throws Exception {
        DsseEnvelope envelope = DsseEnvelope.parse(PUBLISHED.getBytes(UTF_8));
        byte[] pae = DsseEnvelope.pae(envelope.payloadType(), envelope.payload());
        assertEquals("DSSEv1 29 http://example.com/HelloWorld 11 hello world", new String(pae, UTF_8));
        var point = new ECPoint(
                new BigInteger("46950820868899156662930047687818585632848591499744589407958293238635476079160"),
                new BigInteger("5640078356564379163099075877009565129882514886557779369047442380624545832820"));
        AlgorithmParameters curve = AlgorithmParameters.getInstance("EC");
        curve.init(new ECGenParameterSpec("secp256r1"));
        Signature ecdsa = Signature.getInstance("SHA256withECDSAinP1363Format");
        ecdsa.initVerify(KeyFactory.getInstance("EC")
                .generatePublic(new ECPublicKeySpec(point, curve.getParameterSpec(ECParameterSpec.class))));
        ecdsa.update(pae);
        assertTrue(ecdsa.verify(envelope.signatures().getFirst().octets()));
        assertThrows(MalformedAttestationException.class, () -> InTotoStatement.of(envelope, Set.of()));
    }

    @Test
    void lengthsAreOfOctets() {
        assertEquals("DSSEv1 0  0 ", new String(DsseEnvelope.pae("", new byte[0]), UTF_8));
        assertEquals("DSSEv1 2 ä 3 a\nb", new String(DsseEnvelope.pae("ä", "a\nb".getBytes(UTF_8)), UTF_8));
    }

    @Test
    void aStatementComesBackFromWhoeverSignedIt() throws Exception {
        byte[] json = sign(KEY, OTHER).toJson();
        DsseEnvelope envelope = DsseEnvelope.parseOwn(json);
        assertEquals(List.of(KEY.verifier()), envelope.signers(List.of(KEY.verifier())));
        assertEquals(
                List.of(KEY.verifier(), OTHER.verifier()), envelope.signers(List.of(OTHER.verifier(), KEY.verifier())));
        assertEquals(STATEMENT, InTotoStatement.of(envelope, Set.of(InTotoStatement.BUNDLE_V1)));
        assertThrows(MalformedAttestationException.class, () -> InTotoStatement.of(envelope, Set.of("urn:other")));
        String text = new String(envelope.payload(), UTF_8);
        assertEquals(
                "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"events.parquet\",\"digest\":"
                        + "{\"sha256\":\"4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a\"}}],"
                        + "\"predicateType\":\"urn:blackbox:bundle:v1\","
                        + "\"predicate\":{\"run\":\"01j00000000000000000000000\"}}",
                text);
        assertFalse(envelope.signers(List.of(
                        Ed25519Key.create("blackbox/log", new SecureRandom()).verifier()))
                .iterator()
                .hasNext());
    }

    @Test
    void noBitOfOurEnvelopeCanBeChanged() {
        byte[] json = sign(KEY).toJson();
        for (int bit = 0; bit < json.length * 8; bit++) {
            json[bit / 8] ^= (byte) (1 << bit % 8);
            assertFalse(believed(json), "bit " + bit);
            json[bit / 8] ^= (byte) (1 << bit % 8);
        }
        assertTrue(believed(json));
    }

    private static boolean believed(byte[] json) {
        try {
            return !DsseEnvelope.parseOwn(json).signers(List.of(KEY.verifier())).isEmpty();
        } catch (MalformedAttestationException e) {
            return false;
        }
    }

    @Test
    void aSignatureThatSaysItIsAKnownKeysAndIsNotSpoilsTheEnvelope() {
        DsseEnvelope good = sign(KEY, OTHER);
        byte[] wrong = good.signatures().getLast().octets().clone();
        wrong[0] ^= 1;
        var spoilt = new DsseEnvelope(
                good.payloadType(),
                good.payload(),
                List.of(
                        good.signatures().getFirst(),
                        new DsseEnvelope.Signature(good.signatures().getLast().keyId(), wrong)));
        assertEquals(List.of(), spoilt.signers(List.of(KEY.verifier(), OTHER.verifier())));
        assertEquals(List.of(KEY.verifier()), spoilt.signers(List.of(KEY.verifier())));
        var unnamed = new DsseEnvelope(
                good.payloadType(),
                good.payload(),
                List.of(new DsseEnvelope.Signature(
                        null, good.signatures().getLast().octets())));
        assertEquals(List.of(OTHER.verifier()), unnamed.signers(List.of(KEY.verifier(), OTHER.verifier())));
    }

    @Test
    void eitherAlphabetIsReadAndNoMixture() throws Exception {
        String standard = PUBLISHED;
        String urlSafe = PUBLISHED.replace('+', '-');
        assertArrayEquals(
                DsseEnvelope.parse(standard.getBytes(UTF_8))
                        .signatures()
                        .getFirst()
                        .octets(),
                DsseEnvelope.parse(urlSafe.getBytes(UTF_8))
                        .signatures()
                        .getFirst()
                        .octets());
        for (String bad : List.of(
                PUBLISHED.replaceFirst("\\+", "-"),
                PUBLISHED.replace("ZA==", "ZA="),
                PUBLISHED.replace("ZA==", "ZA"),
                PUBLISHED.replace("ZA==", "ZB=="),
                PUBLISHED.replace("A3Jq", "A3J\\nq"),
                PUBLISHED.replace("\"payloadType\"", "\"payload\": \"aGVsbG8gd29ybGQ=\", \"payloadType\""),
                PUBLISHED.replace("\"payloadType\"", "\"more\": 1, \"payloadType\""),
                PUBLISHED.replace("\"payloadType\": \"http://example.com/HelloWorld\",", ""),
                PUBLISHED.replaceFirst("\\[.*]", "[]"),
                PUBLISHED.replaceFirst("\\[.*]", "{}"),
                PUBLISHED.replace("{\"sig\"", "{\"keyid\": 7, \"sig\""),
                PUBLISHED + "{}",
                PUBLISHED.strip().substring(0, 40),
                "[]",
                "")) {
            assertThrows(MalformedAttestationException.class, () -> DsseEnvelope.parse(bad.getBytes(UTF_8)), bad);
        }
        assertThrows(MalformedAttestationException.class, () -> DsseEnvelope.parseOwn(standard.getBytes(UTF_8)));
    }

    @Test
    void aStatementHasOneForm() {
        String good = new String(STATEMENT.toJson(), UTF_8);
        for (String bad : List.of(
                good.replace("Statement/v1", "Statement/v0.1"),
                good.replace("4bf5", "4BF5"),
                good.replace("\"sha256\"", "\"sha512\""),
                good.replace("}],", "},{\"name\":\"events.parquet\",\"digest\":{\"sha256\":\"" + Hash.ZERO + "\"}}],"),
                good.replaceFirst("\\[.*],", "[],"),
                good.replace("\"run\":", "\"run\":{},\"run\":"),
                good.replace("\"predicate\":", "\"more\":{},\"predicate\":"))) {
            assertThrows(MalformedAttestationException.class, () -> InTotoStatement.parse(bad.getBytes(UTF_8)), bad);
        }
    }

    private static DsseEnvelope sign(Ed25519Key... keys) {
        return DsseEnvelope.sign(InTotoStatement.PAYLOAD_TYPE, STATEMENT.toJson(), List.of(keys));
    }
}
