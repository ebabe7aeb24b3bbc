package blackbox.evidence.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LogProofTest {

    private static final int SIZE = 11;
    private static final int INDEX = 6;

    private static Hash leaf(int i) {
        return new TreeHasher().leaf(("leaf " + i).getBytes(StandardCharsets.UTF_8));
    }

    private static LogProof proof() throws IOException {
        var tile = new byte[SIZE * Hash.LENGTH];
        for (int i = 0; i < SIZE; i++) {
            leaf(i).copyTo(tile, i * Hash.LENGTH);
        }
        var prover = new TreeProver(new TileHashes(_ -> tile, SIZE));
        String text = new Checkpoint("example.com/log", SIZE, prover.root(SIZE)).text();
        var line = new SignedNote.Signature("example.com/log", 0x01020304, new byte[64]);
        return LogProof.of(prover.inclusion(INDEX, SIZE), new SignedNote(text, List.of(line)));
    }

    /// The text of version 1: another one that reads the same would be a second form.
    @Test
    void golden() throws IOException {
        LogProof proof = proof();
        String text = proof.encoded();
        assertEquals("""
                c2sp.org/tlog-proof@v1
                index 6
                S0cR0FayJ4OSwjH9QYWK3qjKiTrQxwSPV9omggAoRf4=
                """, text.substring(0, text.indexOf('=') + 2));
        LogProof parsed = LogProof.parse(text);
        assertNotNull(parsed);
        assertEquals(text, parsed.encoded());
        Checkpoint checkpoint = parsed.proven(leaf(INDEX));
        assertNotNull(checkpoint);
        assertEquals(SIZE, checkpoint.size());
        assertNull(parsed.proven(leaf(INDEX + 1)));
    }

    @Test
    void extraOctetsAreCarried() throws IOException {
        LogProof proof = proof();
        var extra = new LogProof("hello".getBytes(StandardCharsets.UTF_8), INDEX, proof.path(), proof.note());
        assertTrue(extra.encoded().startsWith("c2sp.org/tlog-proof@v1\nextra aGVsbG8=\nindex 6\n"));
        LogProof parsed = LogProof.parse(extra.encoded());
        assertNotNull(parsed);
        assertEquals(extra.encoded(), parsed.encoded());
        assertNotNull(parsed.proven(leaf(INDEX)));
    }

    @Test
    void aMalformedProofIsRefused() throws IOException {
        String good = proof().encoded();
        String first = good.lines().toList().get(2);
        var read = new ArrayList<String>();
        for (String bad : List.of(
                "",
                "c2sp.org/tlog-proof@v1\n",
                good.substring(1),
                good.replace("@v1", "@v2"),
                good.replace("index 6", "index 06"),
                good.replace("index 6", "index -6"),
                good.replace("index 6", "index 99999999999999999999"),
                good.replace("index 6\n", ""),
                good.replace("index 6\n", "index 6\nindex 6\n"),
                good.replace("index 6\n", "extra aGVsbG8\nindex 6\n"),
                good.replace("index 6\n", "index 6\nextra aGVsbG8=\n"),
                good.replace("index 6\n", "extra aGVsbG8=\nextra aGVsbG8=\nindex 6\n"),
                good.replace("index 6\n", "index 6\n\n"),
                good.replace("\n", "\r\n"),
                good.replace(first, first.substring(4)),
                good.replace(first, first + " "),
                good.replace(first, (first + "\n").repeat(64).strip()),
                good.replace("\n\nexample", "\nexample"),
                good.substring(0, good.length() - 1),
                good + "\n")) {
            if (LogProof.parse(bad) != null) {
                read.add(bad);
            }
        }
        assertEquals(List.of(), read);
    }

    /// Whatever is changed in front of the signatures, what is proven is not the signed checkpoint.
    @Test
    void noChangedBitProvesTheLeaf() throws IOException {
        byte[] octets = proof().encoded().getBytes(StandardCharsets.UTF_8);
        int signatures = proof().encoded().indexOf("\n\n— ") - 1;
        String checkpoint = proof().note().text();
        var believed = new ArrayList<Integer>();
        for (int bit = 0; bit < signatures * 8; bit++) {
            octets[bit / 8] ^= (byte) (1 << bit % 8);
            LogProof proof = LogProof.parse(new String(octets, StandardCharsets.UTF_8));
            Checkpoint proven = proof == null ? null : proof.proven(leaf(INDEX));
            if (proven != null && proven.text().equals(checkpoint)) {
                believed.add(bit);
            }
            octets[bit / 8] ^= (byte) (1 << bit % 8);
        }
        assertEquals(List.of(), believed);
    }
}
