package blackbox.evidence.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Known answer: a checkpoint of a Certificate Transparency log that a public witness cosigned with both of
/// its keys.
class CosignatureTest {

    private static final String WITNESS = "witness.navigli.sunlight.geomys.org";
    private static final int ED25519_LENGTH = 64;
    private static final int ML_DSA_44_LENGTH = 2420;

    private static String resource(String name) throws IOException {
        try (InputStream in = CosignatureTest.class.getResourceAsStream("/log/cosigned/" + name)) {
            assertNotNull(in);
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static SignedNote note() throws IOException {
        SignedNote note = SignedNote.parse(resource("checkpoint.note"));
        assertNotNull(note);
        return note;
    }

    private static Checkpoint checkpoint() throws IOException {
        Checkpoint checkpoint = Checkpoint.parse(note().text());
        assertNotNull(checkpoint);
        return checkpoint;
    }

    /// The witness's key number `line` of the file, behind the DER that says its algorithm.
    private static PublicKey key(int line, String algorithm, String der) throws IOException, GeneralSecurityException {
        String vkey = resource("witness.vkeys").lines().toList().get(line);
        byte[] octets = Base64.getDecoder().decode(vkey.split("\\+", 3)[2]);
        var encoded = new ByteArrayOutputStream();
        encoded.writeBytes(HexFormat.of().parseHex(der));
        encoded.write(octets, 1, octets.length - 1);
        return KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(encoded.toByteArray()));
    }

    private static Cosignature cosignature(int line, int length) throws IOException {
        SignedNote.Signature signature = note().signatures().get(line);
        assertEquals(WITNESS, signature.name());
        Cosignature cosignature = Cosignature.parse(signature.octets(), length);
        assertNotNull(cosignature);
        assertArrayEquals(signature.octets(), cosignature.encoded());
        return cosignature;
    }

    private static boolean verify(String algorithm, PublicKey key, byte[] message, byte[] signature)
            throws GeneralSecurityException {
        Signature verifier = Signature.getInstance(algorithm);
        verifier.initVerify(key);
        verifier.update(message);
        return verifier.verify(signature);
    }

    @Test
    void theEd25519MessageIsWhatTheWitnessSigned() throws IOException, GeneralSecurityException {
        PublicKey key = key(0, "Ed25519", "302a300506032b6570032100");
        Cosignature signed = cosignature(1, ED25519_LENGTH);
        byte[] text = note().text().getBytes(StandardCharsets.UTF_8);
        byte[] message = Cosignature.ed25519Message(signed.epochSeconds(), text);
        assertTrue(verify("Ed25519", key, message, signed.signature()));
        byte[] later = Cosignature.ed25519Message(signed.epochSeconds() + 1, text);
        assertFalse(verify("Ed25519", key, later, signed.signature()));
    }

    @Test
    void theMlDsa44MessageIsWhatTheWitnessSigned() throws IOException, GeneralSecurityException {
        PublicKey key = key(1, "ML-DSA-44", "30820532300b06096086480165030403110382052100");
        Cosignature signed = cosignature(2, ML_DSA_44_LENGTH);
        byte[] message = Cosignature.mlDsa44Message(WITNESS, signed.epochSeconds(), checkpoint());
        assertTrue(verify("ML-DSA-44", key, message, signed.signature()));
        byte[] otherName = Cosignature.mlDsa44Message("example.com/w", signed.epochSeconds(), checkpoint());
        assertFalse(verify("ML-DSA-44", key, otherName, signed.signature()));
    }

    @Test
    void messagesAreThoseOfTheSpecification() throws IOException {
        Checkpoint checkpoint = new Checkpoint("example.com/behind-the-sofa", 20_852_163, Hash.sha256(new byte[] {1}));
        String text = "cosignature/v1\ntime 1679315147\n" + checkpoint.text();
        byte[] note = checkpoint.text().getBytes(StandardCharsets.UTF_8);
        assertEquals(text, new String(Cosignature.ed25519Message(1_679_315_147, note), StandardCharsets.UTF_8));
        var expected = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(expected)) {
            out.write("subtree/v1\n\0".getBytes(StandardCharsets.US_ASCII));
            out.writeByte(1);
            out.write('w');
            out.writeLong(1_679_315_147);
            out.writeByte(27);
            out.write("example.com/behind-the-sofa".getBytes(StandardCharsets.US_ASCII));
            out.writeLong(0);
            out.writeLong(20_852_163);
            out.write(checkpoint.root().toBytes());
        }
        assertArrayEquals(expected.toByteArray(), Cosignature.mlDsa44Message("w", 1_679_315_147, checkpoint));
        String tooLong = "w".repeat(256);
        assertThrows(
                IllegalArgumentException.class, () -> Cosignature.mlDsa44Message(tooLong, 1_679_315_147, checkpoint));
    }

    @Test
    void aCosignatureOfAnotherLengthOrBeyondTimeIsRefused() {
        byte[] good = new Cosignature(7, new byte[ED25519_LENGTH]).encoded();
        assertNotNull(Cosignature.parse(good, ED25519_LENGTH));
        for (int length : List.of(0, 8, good.length - 1, good.length + 1)) {
            assertNull(Cosignature.parse(Arrays.copyOf(good, length), ED25519_LENGTH));
        }
        good[0] = (byte) 0x80;
        assertNull(Cosignature.parse(good, ED25519_LENGTH));
    }
}
