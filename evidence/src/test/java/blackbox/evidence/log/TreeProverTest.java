package blackbox.evidence.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Hash;
import blackbox.schemas.Seeded;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Proofs over a random tree of a few levels of tiles, and what must not be one.
class TreeProverTest {

    private static final int SIZE = 70_000;
    private static final int ROUNDS = 300;

    private static final List<Hash> LEAVES = new ArrayList<>();
    private static final Map<Integer, Hash> ROOTS = new HashMap<>();
    private static final Map<TilePath, byte[]> TILES = new HashMap<>();

    private final RandomGenerator random = Seeded.random("TreeProverTest");

    /// Roots come from the frontier, tiles from the leaves: neither from the code under test.
    @BeforeAll
    static void grow() {
        var tree = new MerkleFrontier();
        ROOTS.put(0, tree.root());
        for (int i = 0; i < SIZE; i++) {
            LEAVES.add(Hash.sha256(new byte[] {(byte) i, (byte) (i >> 8), (byte) (i >> 16)}));
            tree.append(LEAVES.getLast());
            ROOTS.put(i + 1, tree.root());
        }
        for (TilePath tile : TilePath.grown(0, SIZE)) {
            if (tile.level() >= 0) {
                TILES.put(tile, tile(tile));
            }
        }
    }

    private static byte[] tile(TilePath tile) {
        var octets = new byte[tile.width() * Hash.LENGTH];
        int span = 1 << 8 * tile.level();
        for (int i = 0; i < tile.width(); i++) {
            var tree = new MerkleFrontier();
            int from = (int) (tile.index() * TilePath.FULL + i) * span;
            LEAVES.subList(from, from + span).forEach(tree::append);
            tree.root().copyTo(octets, i * Hash.LENGTH);
        }
        return octets;
    }

    private static Hash root(int size) {
        Hash root = ROOTS.get(size);
        if (root == null) {
            throw new IllegalStateException("no root of " + size);
        }
        return root;
    }

    /// As a reader of the log's last state has it: for smaller trees the partial tiles are gone.
    private static TreeProver prover() {
        return new TreeProver(new TileHashes(TILES::get, SIZE));
    }

    @Test
    void theRootOfEverySizeComesFromTheTiles() throws IOException {
        for (int round = 0; round < ROUNDS; round++) {
            int size = random.nextInt(SIZE + 1);
            assertEquals(root(size), prover().root(size), () -> "size " + size);
        }
        assertEquals(root(SIZE), prover().root(SIZE));
    }

    @Test
    void anInclusionProofHoldsForItsLeafAndForNoOther() throws IOException {
        for (int round = 0; round < ROUNDS; round++) {
            int size = 1 + random.nextInt(SIZE);
            int index = random.nextInt(size);
            InclusionProof proof = prover().inclusion(index, size);
            assertEquals(root(size), proof.root(LEAVES.get(index)), proof::toString);
            int other = random.nextInt(size);
            assertTrue(other == index || !root(size).equals(proof.root(LEAVES.get(other))), proof::toString);
            for (InclusionProof wrong : changed(proof)) {
                assertNotEquals(root(size), wrong.root(LEAVES.get(index)), wrong::toString);
            }
        }
    }

    private List<InclusionProof> changed(InclusionProof proof) {
        var wrong = new ArrayList<InclusionProof>();
        for (List<Hash> path : changed(proof.path())) {
            wrong.add(new InclusionProof(proof.index(), proof.size(), path));
        }
        wrong.add(new InclusionProof(proof.index() + 1, proof.size(), proof.path()));
        wrong.add(new InclusionProof(proof.index() - 1, proof.size(), proof.path()));
        wrong.add(new InclusionProof(proof.index(), proof.size() * 2, proof.path()));
        wrong.add(new InclusionProof(proof.index() + (1L << 40), proof.size(), proof.path()));
        return wrong;
    }

    @Test
    void aConsistencyProofHoldsForItsTreesAndForNoOthers() throws IOException {
        for (int round = 0; round < ROUNDS; round++) {
            int newSize = 2 + random.nextInt(SIZE - 1);
            int oldSize = 1 + random.nextInt(newSize - 1);
            ConsistencyProof proof = prover().consistency(oldSize, newSize);
            assertTrue(proof.holds(root(oldSize), root(newSize)), proof::toString);
            assertFalse(proof.holds(root(newSize), root(oldSize)), proof::toString);
            assertFalse(proof.holds(root(oldSize - 1), root(newSize)), proof::toString);
            assertFalse(proof.holds(root(oldSize), root(newSize - 1)), proof::toString);
            for (ConsistencyProof wrong : changed(proof)) {
                assertFalse(wrong.holds(root(oldSize), root(newSize)), wrong::toString);
            }
        }
    }

    private List<ConsistencyProof> changed(ConsistencyProof proof) {
        var wrong = new ArrayList<ConsistencyProof>();
        for (List<Hash> path : changed(proof.path())) {
            wrong.add(new ConsistencyProof(proof.oldSize(), proof.newSize(), path));
        }
        wrong.add(new ConsistencyProof(proof.oldSize(), proof.newSize() * 2, proof.path()));
        wrong.add(new ConsistencyProof(proof.newSize(), proof.oldSize(), proof.path()));
        wrong.add(new ConsistencyProof(0, proof.newSize(), proof.path()));
        return wrong;
    }

    /// The path with one bit changed, a hash less, one more at either end, and two in the wrong order.
    private List<List<Hash>> changed(List<Hash> path) {
        var wrong = new ArrayList<List<Hash>>();
        wrong.add(edited(path, copy -> copy.add(Hash.ZERO)));
        wrong.add(edited(path, copy -> copy.addFirst(Hash.ZERO)));
        for (int i = 0; i < path.size(); i++) {
            int at = i;
            wrong.add(edited(path, copy -> copy.remove(at)));
            wrong.add(edited(path, copy -> copy.set(at, flipped(copy.get(at)))));
            if (at > 0) {
                wrong.add(edited(path, copy -> copy.set(at, copy.set(at - 1, copy.get(at)))));
            }
        }
        return wrong;
    }

    private static List<Hash> edited(List<Hash> path, Consumer<List<Hash>> edit) {
        var copy = new ArrayList<>(path);
        edit.accept(copy);
        return copy;
    }

    private Hash flipped(Hash hash) {
        byte[] octets = hash.toBytes();
        octets[random.nextInt(octets.length)] ^= (byte) (1 << random.nextInt(8));
        return Hash.copyOf(octets, 0);
    }

    @Test
    void whatHasNoProofIsRefused() throws IOException {
        assertThrows(IllegalArgumentException.class, () -> prover().inclusion(5, 5));
        assertThrows(IllegalArgumentException.class, () -> prover().inclusion(-1, 5));
        assertThrows(IllegalArgumentException.class, () -> prover().consistency(6, 5));
        assertThrows(IllegalArgumentException.class, () -> prover().root(-1));
        assertThrows(IllegalArgumentException.class, () -> prover().root(SIZE + 1));
        assertNull(new InclusionProof(0, 0, List.of()).root(Hash.ZERO));
        assertNull(new InclusionProof(-1, 1, List.of()).root(Hash.ZERO));
        assertFalse(prover().consistency(0, 7).holds(root(0), root(7)));
        assertTrue(prover().consistency(7, 7).holds(root(7), root(7)));
        assertTrue(prover().consistency(0, 0).holds(root(0), root(0)));
    }

    @Test
    void aTileThatIsMissingOrCutOffIsNamed() {
        var gone = new TreeProver(new TileHashes(_ -> null, SIZE));
        assertEquals(
                "the log has no tile/2/000.p/1",
                assertThrows(IOException.class, () -> gone.root(SIZE)).getMessage());
        var cut = new TreeProver(new TileHashes(_ -> new byte[33], SIZE));
        assertThrows(IOException.class, () -> cut.inclusion(3, SIZE));
    }

    @Test
    void sizesThatTheSpecificationWorksOutHaveItsTiles() {
        Map<Integer, Integer> full = new HashMap<>();
        Map<Integer, Integer> partial = new HashMap<>();
        for (TilePath tile : TilePath.grown(0, SIZE)) {
            if (tile.isPartial()) {
                partial.put(tile.level(), tile.width());
            } else {
                full.merge(tile.level(), 1, Integer::sum);
            }
        }
        assertEquals(Map.of(TilePath.ENTRIES, 273, 0, 273, 1, 1), full);
        assertEquals(Map.of(TilePath.ENTRIES, 112, 0, 112, 1, 17, 2, 1), partial);
        assertEquals(
                List.of(TilePath.entries(0, 256), new TilePath(0, 0, 256), new TilePath(1, 0, 1)),
                TilePath.grown(255, 256));
        assertEquals(List.of(), TilePath.grown(256, 256));
    }
}
