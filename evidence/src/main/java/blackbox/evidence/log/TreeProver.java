package blackbox.evidence.log;

import blackbox.schemas.Hash;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Computes roots and proofs (RFC 9162, section 2.1) from the hashes of complete subtrees. Owned by one thread.
///
/// It does not check what it is given: compare its results with a signed root before handing them out.
public final class TreeProver {

    private final SubtreeHashes hashes;
    private final TreeHasher hasher = new TreeHasher();

    public TreeProver(SubtreeHashes hashes) {
        this.hashes = hashes;
    }

    /// The root of the tree of the first `size` leaves.
    public Hash root(long size) throws IOException {
        if (size < 0) {
            throw new IllegalArgumentException("a tree has no " + size + " leaves");
        }
        return size == 0 ? TreeHasher.EMPTY_ROOT : range(0, size);
    }

    /// The proof that leaf `index` is in the tree of `size` leaves.
    ///
    /// @throws IllegalArgumentException when the tree has no such leaf
    public InclusionProof inclusion(long index, long size) throws IOException {
        if (index < 0 || index >= size) {
            throw new IllegalArgumentException("a tree of " + size + " leaves has no leaf " + index);
        }
        var path = new ArrayList<Hash>();
        path(index, 0, size, path);
        return new InclusionProof(index, size, path);
    }

    private void path(long index, long from, long to, List<Hash> path) throws IOException {
        if (to - from == 1) {
            return;
        }
        long middle = from + leftLeaves(to - from);
        if (index < middle) {
            path(index, from, middle, path);
            path.add(range(middle, to));
        } else {
            path(index, middle, to, path);
            path.add(range(from, middle));
        }
    }

    /// The proof that the tree of `newSize` leaves begins with that of `oldSize`; empty for `oldSize` 0, as
    /// C2SP tlog-witness requires.
    ///
    /// @throws IllegalArgumentException when the sizes are not in this order
    public ConsistencyProof consistency(long oldSize, long newSize) throws IOException {
        if (oldSize < 0 || oldSize > newSize) {
            throw new IllegalArgumentException("no tree grows from " + oldSize + " to " + newSize + " leaves");
        }
        var path = new ArrayList<Hash>();
        if (oldSize > 0) {
            growth(oldSize, 0, newSize, true, path);
        }
        return new ConsistencyProof(oldSize, newSize, path);
    }

    /// `oldEnd` is where the old tree ends; `whole` while the subtree at hand begins where the tree begins,
    /// so that the verifier knows its root if the old tree is exactly that subtree.
    private void growth(long oldEnd, long from, long to, boolean whole, List<Hash> path) throws IOException {
        if (oldEnd == to) {
            if (!whole) {
                path.add(range(from, to));
            }
            return;
        }
        long middle = from + leftLeaves(to - from);
        if (oldEnd <= middle) {
            growth(oldEnd, from, middle, whole, path);
            path.add(range(middle, to));
        } else {
            growth(oldEnd, middle, to, false, path);
            path.add(range(from, middle));
        }
    }

    /// The root over the leaves of a range that is a node of some tree, so it must begin at a multiple of its
    /// size.
    private Hash range(long from, long to) throws IOException {
        long leaves = to - from;
        if (Long.bitCount(leaves) == 1) {
            int level = Long.numberOfTrailingZeros(leaves);
            return hashes.at(level, from >>> level);
        }
        long middle = from + leftLeaves(leaves);
        return hasher.node(range(from, middle), range(middle, to));
    }

    /// The largest power of two below `leaves`: how many of them are under a node's left child.
    private static long leftLeaves(long leaves) {
        return Long.highestOneBit(leaves - 1);
    }
}
