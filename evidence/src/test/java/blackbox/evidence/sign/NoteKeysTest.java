package blackbox.evidence.sign;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.log.Checkpoint;
import blackbox.evidence.log.NoteSigner;
import blackbox.evidence.log.NoteVerifier;
import blackbox.schemas.Hash;
import blackbox.schemas.Seeded;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class NoteKeysTest {

    private static final String NAME = "example.com/log";
    private static final byte[] TEXT = "two lines\nof text\n".getBytes(StandardCharsets.UTF_8);

    private final SecureRandom random = new SecureRandom();

    @Test
    void whatAKeySignsItsVerifierKeyVerifiesAndNothingElse() {
        RandomGenerator seeded = Seeded.random("NoteKeysTest");
        for (NoteSigner key : List.of(
                Ed25519Key.create(NAME, random),
                EcdsaKey.create(NAME, random),
                MlDsaKey.create44(NAME, random),
                mlDsa65())) {
            byte[] signature = key.sign(TEXT);
            NoteVerifier verifier = NoteVerifiers.parse(key.verifier().encoded());
            assertEquals(key.verifier(), verifier);
            assertEquals(NAME, verifier.name());
            assertTrue(verifier.verify(TEXT, signature), verifier::name);
            assertFalse(verifier.verify("two lines\nof texts\n".getBytes(StandardCharsets.UTF_8), signature));
            assertFalse(verifier.verify(TEXT, new byte[0]));
            for (int i = 0; i < 100; i++) {
                byte[] changed = signature.clone();
                changed[seeded.nextInt(changed.length)] ^= (byte) (1 << seeded.nextInt(8));
                assertFalse(verifier.verify(TEXT, changed));
            }
        }
    }

    /// A key of the larger parameters, of which Blackbox makes none but which it reads.
    private MlDsaKey mlDsa65() {
        Seed seed = Seed.create(KeyType.ML_DSA_65, random);
        return MlDsaKey.parse(seed.text(seed.verifierKey(NAME)));
    }

    @Test
    void aKeyReadsBackFromItsText() {
        Ed25519Key classical = Ed25519Key.create(NAME, random);
        assertEquals(classical.verifier(), Ed25519Key.parse(classical.encoded()).verifier());
        assertEquals(
                classical.verifier(), Ed25519Key.ofSeed(NAME, classical.seed()).verifier());
        for (MlDsaKey key : List.of(MlDsaKey.create44(NAME, random), mlDsa65())) {
            assertEquals(key.verifier(), MlDsaKey.parse(key.encoded()).verifier());
            assertThrows(IllegalArgumentException.class, () -> Ed25519Key.parse(key.encoded()));
        }
        assertThrows(IllegalArgumentException.class, () -> MlDsaKey.parse(classical.encoded()));
        for (String bad : List.of(
                "",
                classical.verifier().encoded(),
                classical.encoded().replace(NAME, "other"),
                classical.encoded().replaceFirst(".$", ""),
                classical.encoded() + "AAAA")) {
            var refusal = assertThrows(IllegalArgumentException.class, () -> Ed25519Key.parse(bad), bad);
            assertFalse(String.valueOf(refusal.getMessage()).contains(secretPart(classical)));
        }
    }

    /// The fifth and last part of the text; base64 holds plus signs of its own.
    private static String secretPart(Ed25519Key key) {
        return key.encoded().split("\\+", 5)[4];
    }

    /// RFC 8032, section 7.1, test 2; the signature is deterministic.
    @Test
    void theSeedIsThatOfRfc8032() {
        HexFormat hex = HexFormat.of();
        var key = Ed25519Key.ofSeed(
                NAME, hex.parseHex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"));
        assertEquals(
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
                hex.formatHex(key.verifier().publicKey()));
        assertEquals(
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                        + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
                hex.formatHex(key.sign(new byte[] {0x72})));
    }

    @Test
    void aDestroyedKeySignsNothingAndTellsNothing() {
        Ed25519Key classical = Ed25519Key.create(NAME, random);
        MlDsaKey other = MlDsaKey.create44(NAME, random);
        byte[] signature = classical.sign(TEXT);
        classical.destroy();
        other.destroy();
        classical.destroy();
        assertTrue(classical.isDestroyed() && other.isDestroyed());
        assertThrows(IllegalStateException.class, () -> classical.sign(TEXT));
        assertThrows(IllegalStateException.class, classical::encoded);
        assertThrows(IllegalStateException.class, classical::seed);
        assertThrows(IllegalStateException.class, () -> other.sign(TEXT));
        assertTrue(classical.verifier().verify(TEXT, signature));
    }

    @Test
    void destroyingZeroesTheSeedThatIsHeld() {
        var octets = new byte[Seed.LENGTH];
        random.nextBytes(octets);
        Seed seed = Seed.of(KeyType.ED25519, octets);
        assertNotEquals(0, Arrays.hashCode(seed.octets()));
        seed.destroy();
        assertArrayEquals(new byte[Seed.LENGTH], octets);
    }

    /// The example of C2SP signed-note, and the key ids of the three kinds of key.
    @Test
    void keyIds() {
        String example = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
        assertEquals(0x530d903a, NoteVerifiers.parse(example).keyId());
        EcdsaKey first = EcdsaKey.create("a", random);
        byte[] octets = Base64.getDecoder().decode(first.verifier().encoded().split("\\+", 3)[2]);
        int overKeyAlone = ByteBuffer.wrap(Hash.sha256(Arrays.copyOfRange(octets, 1, octets.length))
                        .toBytes())
                .getInt();
        assertEquals(overKeyAlone, first.verifier().keyId());
        assertInstanceOf(
                EcdsaVerifier.class, NoteVerifiers.parse(first.verifier().encoded()));
    }

    @Test
    void aVerifierKeyIsRefusedWithAReason() throws Exception {
        String good = Ed25519Key.create(NAME, random).verifier().encoded();
        String id = good.split("\\+", 3)[1];
        refused("", "not a verifier key");
        refused("nonsense", "not a verifier key");
        refused(good.replace(id, id.substring(1)), "not a verifier key");
        refused(good.replace(id, "00000000"), "id does not match");
        refused(good + "!", "base64");
        refused(good.replace("com/log", "com/ log"), "no spaces");
        refused(NAME + "+00000000+" + Base64.getEncoder().encodeToString(new byte[33]), "type 0x00");
        refused(NAME + "+00000000+" + Base64.getEncoder().encodeToString(new byte[] {-1, 5}), "unknown identifier");
        refused(NAME + "+00000000+" + Base64.getEncoder().encodeToString(new byte[] {1, 5}), "public key for Ed25519");
        refused(NAME + "+00000000+" + Base64.getEncoder().encodeToString(new byte[] {2, 5}), "id does not match");
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp384r1"));
        var onAnotherCurve = new VerifierKey(
                NAME, KeyType.ECDSA, generator.generateKeyPair().getPublic().getEncoded());
        refused(onAnotherCurve.encoded(), "P-256");
    }

    private static void refused(String vkey, String reason) {
        var refusal = assertThrows(IllegalArgumentException.class, () -> NoteVerifiers.parse(vkey), vkey);
        assertTrue(String.valueOf(refusal.getMessage()).contains(reason), refusal::getMessage);
    }

    @Test
    void aWitnessSignsCheckpointsAtATime() {
        byte[] text = new Checkpoint(NAME, 7, Hash.sha256(TEXT)).text().getBytes(StandardCharsets.UTF_8);
        byte[] larger = new Checkpoint(NAME, 8, Hash.sha256(TEXT)).text().getBytes(StandardCharsets.UTF_8);
        for (CosignatureKey key : List.of(
                CosignatureKey.createEd25519("witness", random), CosignatureKey.createMlDsa44("witness", random))) {
            byte[] line = key.cosign(text, 1_700_000_000);
            NoteVerifier verifier = NoteVerifiers.parse(key.verifier().encoded());
            assertEquals(key.verifier(), verifier);
            assertTrue(verifier.verify(text, line));
            assertFalse(verifier.verify(larger, line));
            line[7] ^= 1;
            assertFalse(verifier.verify(text, line), "the time is part of what is signed");
            assertFalse(verifier.verify(TEXT, line));
            assertThrows(IllegalArgumentException.class, () -> key.cosign(TEXT, 1));
            assertEquals(key.verifier(), CosignatureKey.parse(key.encoded()).verifier());
        }
    }

    /// The same seed under the same name is another key, so that a log's signature never passes for a witness's.
    @Test
    void aCosignatureIsNoSignature() {
        var log = Ed25519Key.create("same", random);
        byte[] text = new Checkpoint(NAME, 7, Hash.sha256(TEXT)).text().getBytes(StandardCharsets.UTF_8);
        CosignatureKey witness = CosignatureKey.createEd25519("same", random);
        assertFalse(witness.verifier().verify(text, log.sign(text)));
        assertFalse(log.verifier().verify(text, witness.cosign(text, 1)));
        assertNotEquals(log.verifier(), witness.verifier());
    }
}
