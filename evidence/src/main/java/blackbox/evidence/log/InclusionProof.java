package blackbox.evidence.log;

import blackbox.schemas.Hash;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Proves that a leaf is at `index` in the tree of `size` leaves (RFC 9162, section 2.1.3): the hashes from
/// the leaf's sibling up to the root's child. Its numbers are unchecked; [#root] judges them.
public record InclusionProof(long index, long size, List<Hash> path) {

    public InclusionProof {
        path = List.copyOf(path);
    }

    /// The root that the tree must have for the leaf to be there; null if index, size and path are
    /// inconsistent. The caller compares it with a root that it trusts (section 2.1.3.2).
    public @Nullable Hash root(Hash leafHash) {
        if (index < 0 || index >= size) {
            return null;
        }
        var hasher = new TreeHasher();
        long node = index;
        long last = size - 1;
        Hash root = leafHash;
        for (Hash sibling : path) {
            if (last == 0) {
                return null;
            }
            if ((node & 1) != 0 || node == last) {
                root = hasher.node(sibling, root);
                int skip = Long.numberOfTrailingZeros(node);
                node >>>= skip;
                last >>>= skip;
            } else {
                root = hasher.node(root, sibling);
            }
            node >>>= 1;
            last >>>= 1;
        }
        return last == 0 ? root : null;
    }
}
