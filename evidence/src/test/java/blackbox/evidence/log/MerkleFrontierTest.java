package blackbox.evidence.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.schemas.Hash;
import blackbox.schemas.Seeded;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class MerkleFrontierTest {

    /// RFC 6962, section 2.1, word for word: the slow definition that the frontier must equal.
    private static Hash definition(List<byte[]> leaves) {
        var out = new ByteArrayOutputStream();
        if (leaves.isEmpty()) {
            return Hash.sha256(new byte[0]);
        }
        if (leaves.size() == 1) {
            out.write(0);
            out.writeBytes(leaves.getFirst());
            return Hash.sha256(out.toByteArray());
        }
        int k = Integer.highestOneBit(leaves.size() - 1);
        out.write(1);
        out.writeBytes(definition(leaves.subList(0, k)).toBytes());
        out.writeBytes(definition(leaves.subList(k, leaves.size())).toBytes());
        return Hash.sha256(out.toByteArray());
    }

    @Test
    void equalsTheDefinitionAtEverySize() {
        RandomGenerator random = Seeded.random("equalsTheDefinitionAtEverySize");
        var leaves = new ArrayList<byte[]>();
        var frontier = new MerkleFrontier();
        for (int size = 0; size <= 130; size++) {
            assertEquals(definition(leaves), frontier.root(), "size " + size);
            var restored = MerkleFrontier.of(frontier.size(), frontier.toBytes());
            assertEquals(frontier.root(), restored.root());
            byte[] leaf = Seeded.octets(random, 100);
            leaves.add(leaf);
            var prefixed = new byte[leaf.length + 1];
            System.arraycopy(leaf, 0, prefixed, 1, leaf.length);
            frontier.append(prefixed, 1, leaf.length);
            restored.append(prefixed, 1, leaf.length);
            assertEquals(frontier.root(), restored.root());
        }
    }

    @Test
    void refusesALeafWithoutItsPrefixAndAnEdgeOfAnotherSize() {
        assertThrows(IllegalArgumentException.class, () -> new MerkleFrontier().append(new byte[] {1, 2}, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> MerkleFrontier.of(3, new byte[32]));
    }
}
