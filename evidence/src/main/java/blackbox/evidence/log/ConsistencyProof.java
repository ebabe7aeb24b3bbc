package blackbox.evidence.log;

import blackbox.schemas.Hash;
import java.util.List;

/// Proves that the tree of `newSize` leaves begins with the leaves of the tree of `oldSize` (RFC 9162,
/// section 2.1.4). Its numbers are unchecked; [#holds] judges them.
public record ConsistencyProof(long oldSize, long newSize, List<Hash> path) {

    public ConsistencyProof {
        path = List.copyOf(path);
    }

    /// Whether the proof leads from the one root to the other (section 2.1.4.2).
    ///
    /// From the empty tree nothing can be proved, since every tree begins with it: false unless both are
    /// empty. Accepting a first checkpoint is a decision of its own.
    public boolean holds(Hash oldRoot, Hash newRoot) {
        if (oldSize < 0 || oldSize > newSize) {
            return false;
        }
        if (oldSize == newSize) {
            return path.isEmpty() && oldRoot.equals(newRoot) && (oldSize > 0 || oldRoot.equals(TreeHasher.EMPTY_ROOT));
        }
        if (oldSize == 0 || path.isEmpty()) {
            return false;
        }
        // A complete old tree is a node of the new one, and the proof leaves it out.
        return Long.bitCount(oldSize) == 1
                ? climb(oldRoot, path, oldRoot, newRoot)
                : climb(path.getFirst(), path.subList(1, path.size()), oldRoot, newRoot);
    }

    private boolean climb(Hash start, List<Hash> siblings, Hash oldRoot, Hash newRoot) {
        var hasher = new TreeHasher();
        int shared = Long.numberOfTrailingZeros(oldSize);
        long node = oldSize - 1 >>> shared;
        long last = newSize - 1 >>> shared;
        Hash old = start;
        Hash grown = start;
        for (Hash sibling : siblings) {
            if (last == 0) {
                return false;
            }
            if ((node & 1) != 0 || node == last) {
                old = hasher.node(sibling, old);
                grown = hasher.node(sibling, grown);
                int skip = Long.numberOfTrailingZeros(node);
                node >>>= skip;
                last >>>= skip;
            } else {
                grown = hasher.node(grown, sibling);
            }
            node >>>= 1;
            last >>>= 1;
        }
        return last == 0 && old.equals(oldRoot) && grown.equals(newRoot);
    }
}
