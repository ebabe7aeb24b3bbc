package blackbox.evidence.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.sign.Ed25519Key;
import blackbox.evidence.sign.Ed25519Verifier;
import blackbox.schemas.Hash;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SignedNoteTest {

    private static final String PETER_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    private static final String ENOCH_KEY = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop";
    private static final String PETER_SECRET =
            "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
    private static final String TEXT = """
            If you think cryptography is the answer to your problem,
            then you don't know what your problem is.
            """;
    private static final String PETER = "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZ"
            + "SNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
    private static final String ENOCH = "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ov"
            + "TG01oOTGwnWLox33WWd1RvMc+QQ=\n";

    private static final Ed25519Verifier PETER_VERIFIER = Ed25519Verifier.parse(PETER_KEY);
    private static final Ed25519Verifier ENOCH_VERIFIER = Ed25519Verifier.parse(ENOCH_KEY);

    private static SignedNote parsed(String note) {
        SignedNote parsed = SignedNote.parse(note);
        assertNotNull(parsed);
        assertEquals(note, parsed.encoded());
        return parsed;
    }

    /// The notes of golang.org/x/mod `sumdb/note`.
    @Test
    void aNoteKnowsWhoSignedIt() {
        SignedNote both = parsed(TEXT + "\n" + PETER + ENOCH);
        assertEquals(List.of(PETER_VERIFIER), both.signers(List.of(PETER_VERIFIER)));
        assertEquals(List.of(PETER_VERIFIER, ENOCH_VERIFIER), both.signers(List.of(ENOCH_VERIFIER, PETER_VERIFIER)));
        assertEquals(List.of(), both.signers(List.of()));
        String enochChanged = ENOCH.substring(0, 60) + "ABCD" + ENOCH.substring(60);
        SignedNote repeated = parsed(TEXT + "\n" + PETER + PETER + ENOCH + ENOCH + enochChanged);
        assertEquals(List.of(PETER_VERIFIER), repeated.signers(List.of(PETER_VERIFIER)));
        assertEquals(List.of(), repeated.signers(List.of(PETER_VERIFIER, ENOCH_VERIFIER)));
        SignedNote changed = parsed(TEXT + "\n" + PETER.substring(0, 60) + "ABCD" + PETER.substring(60) + ENOCH);
        assertEquals(List.of(), changed.signers(List.of(PETER_VERIFIER, ENOCH_VERIFIER)));
        SignedNote misnamed = parsed(TEXT + "\n" + PETER.replace("PeterNeumann", "CarmenSandiego"));
        assertEquals(List.of(), misnamed.signers(List.of(PETER_VERIFIER)));
        SignedNote wrongId = parsed(TEXT + "\n" + PETER.replace("x08g", "xxxx"));
        assertEquals(List.of(), wrongId.signers(List.of(PETER_VERIFIER)));
    }

    @Test
    void signingGivesTheSameNoteAsGo() {
        Ed25519Key peter = Ed25519Key.parse(PETER_SECRET);
        assertEquals(TEXT + "\n" + PETER, SignedNote.sign(TEXT, peter));
        SignedNote note = parsed(TEXT + "\n" + ENOCH).with(SignedNote.Signature.of(peter, TEXT));
        assertEquals(TEXT + "\n" + ENOCH + PETER, note.encoded());
        var bad = new SignedNote.Signature("PeterNeumann", 0xc74f20a3, new byte[1]);
        assertEquals(
                TEXT + "\n" + ENOCH + PETER,
                note.with(bad).with(SignedNote.Signature.of(peter, TEXT)).encoded());
        assertThrows(IllegalArgumentException.class, () -> SignedNote.sign("abc", peter));
        assertThrows(IllegalArgumentException.class, () -> SignedNote.sign(TEXT, List.of()));
        assertThrows(IllegalArgumentException.class, () -> new SignedNote.Signature("a+b", 0, new byte[1]));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "T",
                "T\n",
                "T\nP", // cut below
                "\u0001T\nP\n",
                "T\u0000\nP\n",
                "T\r\nP\n",
                "T\tx\n\nP\n",
                "\ud800T\nP\n",
                "T\n— Bad Name S\n",
                "T\n— Bad\u00a0Name S\n",
                "T\n— Bad\u2003Name S\n",
                "T\n— Bad\u0085Name S\n",
                "T\n— Bad+Name S\n",
                "T\n—  S\n",
                "T\n— S\n",
                "T\n— Name \n",
                "T\n— Name AAAA\n",
                "T\n— Name AAAAAA==\n",
                "T\n— Name x08go_ZJkuBS\n",
                "T\n— Name x08go/ZJkuB\n",
                "T\n- Name S\n",
                "T\n—Name S\n",
                "T\nP\nUnexpected line.\n",
                "T\nP\n\n",
                "TP\n",
                "P\n",
                ""
            })
    void aMalformedNoteIsRefused(String shape) {
        String note = shape.replace("T", TEXT)
                .replace("P", PETER.strip())
                .replace(" S", " x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdng");
        assertNull(SignedNote.parse(note));
    }

    @Test
    void aNoteIsUtf8AndHasNotTooManySignatures() {
        byte[] octets = (TEXT + "\n" + PETER).getBytes(StandardCharsets.UTF_8);
        assertNotNull(SignedNote.parse(octets));
        octets[3] = (byte) 0xff;
        assertNull(SignedNote.parse(octets));
        assertEquals(100, parsed(TEXT + "\n" + PETER.repeat(100)).signatures().size());
        assertNull(SignedNote.parse(TEXT + "\n" + PETER.repeat(101)));
    }

    @Test
    void aNoteIsBelievedOnlyUnchangedAndFromAKnownKey() {
        var random = new SecureRandom();
        Ed25519Key key = Ed25519Key.create("example/log", random);
        Ed25519Key other = Ed25519Key.create("example/log", random);
        String note = SignedNote.sign(new Checkpoint("example/log", 7, Hash.ZERO).text(), key);
        assertTrue(believed(note, key));
        assertTrue(!believed(note, other));
        assertTrue(believed(note, Ed25519Key.parse(key.encoded())));
        byte[] octets = note.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < octets.length * 8; i++) {
            octets[i / 8] ^= (byte) (1 << i % 8);
            assertTrue(!believed(new String(octets, StandardCharsets.UTF_8), key), "bit " + i);
            octets[i / 8] ^= (byte) (1 << i % 8);
        }
    }

    private static boolean believed(String note, Ed25519Key key) {
        SignedNote parsed = SignedNote.parse(note);
        return parsed != null && parsed.signedBy(List.of(key.verifier())) != null;
    }

    @Test
    void aCheckpointHasOneForm() {
        String good = new Checkpoint("a/b", 10, Hash.ZERO).text();
        assertEquals(new Checkpoint("a/b", 10, Hash.ZERO), Checkpoint.parse(good));
        for (String bad : List.of(
                "",
                good + "x\n",
                good.replace("\n10\n", "\n010\n"),
                good.replace("\n10\n", "\n-1\n"),
                "\n" + good,
                good.strip(),
                good.replace("=", ""),
                good.replace("A=", "B="),
                good.replace("AAAA=", "ATOOBIG="),
                good.replace("\n10\n", "\n0xabcdef\n"),
                good.replace("\n10\n", "\n+10\n"),
                good.replace("\n10\n", "\n\u0661\u0660\n"),
                good.replace("\n10\n", "\n9223372036854775808\n"),
                good.replace("\n", "\r\n"),
                good + "JOE",
                good + "\n",
                good.replace("\n10\n", "\n99999999999999999999\n"))) {
            assertNull(Checkpoint.parse(bad), bad);
        }
    }
}
