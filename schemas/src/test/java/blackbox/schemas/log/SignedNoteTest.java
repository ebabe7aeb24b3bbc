package blackbox.schemas.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import blackbox.schemas.Vectors;
import blackbox.schemas.sign.Ed25519Key;
import blackbox.schemas.sign.Ed25519Verifier;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import org.junit.jupiter.api.Test;

class SignedNoteTest {

    private static final String TESSERA_KEY =
            "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx";

    @Test
    void everyCheckpointOfTesserasLogVerifies() throws IOException {
        Path log = Vectors.folder().resolve("transparency-dev-tessera/testdata/log");
        var verifier = Ed25519Verifier.parse(TESSERA_KEY);
        for (int size = 1; size <= 15; size++) {
            String text = Files.readString(log.resolve("checkpoint." + size));
            SignedNote note = SignedNote.parse(text);
            assertNotNull(note);
            assertNotNull(note.signedBy(List.of(verifier)));
            Checkpoint checkpoint = Checkpoint.parse(note.text());
            assertNotNull(checkpoint);
            assertEquals(new Checkpoint("example.com/log/testdata", size, rootOfEntries(log, size)), checkpoint);
        }
    }

    private static Hash rootOfEntries(Path log, int size) throws IOException {
        byte[] entries = Files.readAllBytes(log.resolve("tile/entries/000.p/" + size));
        var frontier = new MerkleFrontier();
        for (int at = 0; at < entries.length; ) {
            int length = (entries[at] & 0xff) << 8 | entries[at + 1] & 0xff;
            var leaf = new byte[length + 1];
            System.arraycopy(entries, at + 2, leaf, 1, length);
            frontier.append(leaf, 1, length);
            at += 2 + length;
        }
        return frontier.root();
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
                good.replace("\n10\n", "\n99999999999999999999\n"))) {
            assertNull(Checkpoint.parse(bad), bad);
        }
    }
}
