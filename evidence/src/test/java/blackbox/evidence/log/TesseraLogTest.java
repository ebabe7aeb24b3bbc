package blackbox.evidence.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.sign.Ed25519Verifier;
import blackbox.schemas.Hash;
import blackbox.schemas.Vectors;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/// A log that another implementation wrote, tessera's: 16 checkpoints with tiles and entry bundles.
class TesseraLogTest {

    private static final String KEY = "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx";
    private static final String ORIGIN = "example.com/log/testdata";
    private static final int SIZE = 15;

    private static Path log() {
        return Vectors.folder().resolve("transparency-dev-tessera/testdata/log");
    }

    /// The checkpoint of `size` leaves, signature checked.
    private static Checkpoint checkpoint(int size) throws IOException {
        SignedNote note = SignedNote.parse(Files.readAllBytes(log().resolve("checkpoint." + size)));
        assertNotNull(note);
        TrustPolicy policy = TrustPolicy.parse("log " + KEY + "\nquorum none\n", Ed25519Verifier::parse);
        assertTrue(policy.judge(note).satisfied());
        Checkpoint checkpoint = Checkpoint.parse(note.text());
        assertNotNull(checkpoint);
        assertEquals(ORIGIN, checkpoint.origin());
        assertEquals(size, checkpoint.size());
        return checkpoint;
    }

    /// Just the tiles that were written for a tree of `size` leaves: the log has each width.
    private static TileHashes hashes(int size) {
        return new TileHashes(
                tile -> {
                    Path file = log().resolve(tile.path());
                    return Files.exists(file) ? Files.readAllBytes(file) : null;
                },
                size);
    }

    private static List<byte[]> entries(int size) throws IOException {
        if (size == 0) {
            return List.of();
        }
        byte[] octets =
                Files.readAllBytes(log().resolve(TilePath.entries(0, size).path()));
        EntryBundle bundle = EntryBundle.parse(octets, size);
        assertNotNull(bundle);
        assertArrayEquals(octets, bundle.encoded());
        return bundle.entries();
    }

    @Test
    void everyTileAndBundleGivesTheCheckpointsRoot() throws IOException {
        var hasher = new TreeHasher();
        for (int size = 0; size <= SIZE; size++) {
            var tree = new MerkleFrontier();
            var tile = new ByteArrayOutputStream();
            for (byte[] entry : entries(size)) {
                Hash leaf = hasher.leaf(entry);
                tree.append(leaf);
                tile.writeBytes(leaf.toBytes());
            }
            Hash root = checkpoint(size).root();
            assertEquals(root, tree.root());
            assertEquals(root, new TreeProver(hashes(size)).root(size));
            if (size > 0) {
                TilePath path = new TilePath(0, 0, size);
                assertArrayEquals(Files.readAllBytes(log().resolve(path.path())), tile.toByteArray());
                assertTrue(TilePath.grown(size - 1, size).containsAll(List.of(path, TilePath.entries(0, size))));
            }
        }
        assertEquals(
                Files.readString(log().resolve("checkpoint." + SIZE)), Files.readString(log().resolve("checkpoint")));
    }

    @Test
    void everyEntryIsIncludedInEverySize() throws IOException {
        var hasher = new TreeHasher();
        for (int size = 1; size <= SIZE; size++) {
            Checkpoint checkpoint = checkpoint(size);
            var prover = new TreeProver(hashes(size));
            SignedNote note = SignedNote.parse(Files.readAllBytes(log().resolve("checkpoint." + size)));
            assertNotNull(note);
            List<byte[]> entries = entries(size);
            for (int index = 0; index < size; index++) {
                LogProof proof = LogProof.parse(
                        LogProof.of(prover.inclusion(index, size), note).encoded());
                assertNotNull(proof);
                for (int other = 0; other < size; other++) {
                    Checkpoint proven = proof.proven(hasher.leaf(entries.get(other)));
                    assertEquals(other == index ? checkpoint : null, proven);
                }
            }
        }
    }

    @Test
    void everySizeIsConsistentWithEveryOther() throws IOException {
        for (int newSize = 1; newSize <= SIZE; newSize++) {
            var prover = new TreeProver(hashes(newSize));
            for (int oldSize = 1; oldSize <= newSize; oldSize++) {
                ConsistencyProof proof = prover.consistency(oldSize, newSize);
                for (int other = 1; other <= SIZE; other++) {
                    assertEquals(
                            other == oldSize,
                            proof.holds(
                                    checkpoint(other).root(),
                                    checkpoint(newSize).root()));
                }
            }
        }
    }

    @Test
    void aBundleOfAnotherWidthOrCutOffIsRefused() throws IOException {
        byte[] octets =
                Files.readAllBytes(log().resolve(TilePath.entries(0, SIZE).path()));
        assertNull(EntryBundle.parse(octets, SIZE - 1));
        assertNull(EntryBundle.parse(octets, SIZE + 1));
        var cut = new ArrayList<Integer>();
        for (int length = 0; length < octets.length; length++) {
            if (EntryBundle.parse(Arrays.copyOf(octets, length), SIZE) != null) {
                cut.add(length);
            }
        }
        assertEquals(List.of(), cut);
    }
}
