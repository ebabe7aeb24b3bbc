package blackbox.evidence.log;

import blackbox.schemas.Hash;

/// The right edge of an RFC 6962 Merkle tree: enough to append leaves and to know the root, at most 64 hashes
/// whatever the tree's size. Owned by one thread.
public final class MerkleFrontier {

    private static final int LEVELS = 63;

    private final TreeHasher hasher = new TreeHasher();

    /// Root of the complete subtree of 2^level leaves at level * 32, valid if bit `level` of `size` is set.
    private final byte[] edge = new byte[LEVELS * Hash.LENGTH];

    /// Prefix, left, right: what is hashed for a node. The right half doubles as the place where a new leaf's
    /// hash is put.
    private final byte[] node = new byte[TreeHasher.NODE_LENGTH];

    private long size;

    public MerkleFrontier() {
        node[0] = TreeHasher.NODE_PREFIX;
    }

    /// The number of leaves.
    public long size() {
        return size;
    }

    /// Appends the leaf whose octets are at `offset`, **preceded by an octet 0** ([TreeHasher#LEAF_PREFIX])
    /// at `offset - 1`: what is hashed is contiguous, so nothing is copied on the hot path.
    public void append(byte[] array, int offset, int length) {
        hasher.prefixedLeaf(array, offset, length, node, 1 + Hash.LENGTH);
        carry();
    }

    /// Appends a leaf by its hash.
    public void append(Hash leafHash) {
        leafHash.copyTo(node, 1 + Hash.LENGTH);
        carry();
    }

    private void carry() {
        int level = 0;
        for (long left = size; (left & 1) != 0; left >>>= 1, level++) {
            System.arraycopy(edge, level * Hash.LENGTH, node, 1, Hash.LENGTH);
            hasher.prefixedNode(node, node, 1 + Hash.LENGTH);
        }
        System.arraycopy(node, 1 + Hash.LENGTH, edge, level * Hash.LENGTH, Hash.LENGTH);
        size++;
    }

    /// The root hash over all leaves so far; that of the empty tree is SHA-256 of nothing.
    public Hash root() {
        if (size == 0) {
            return TreeHasher.EMPTY_ROOT;
        }
        int level = Long.numberOfTrailingZeros(size);
        System.arraycopy(edge, level * Hash.LENGTH, node, 1 + Hash.LENGTH, Hash.LENGTH);
        for (level++; size >>> level != 0; level++) {
            if ((size >>> level & 1) != 0) {
                System.arraycopy(edge, level * Hash.LENGTH, node, 1, Hash.LENGTH);
                hasher.prefixedNode(node, node, 1 + Hash.LENGTH);
            }
        }
        return Hash.copyOf(node, 1 + Hash.LENGTH);
    }

    /// The frontier as octets: the hashes of the complete subtrees, largest first, 32 octets each.
    public byte[] toBytes() {
        var octets = new byte[Long.bitCount(size) * Hash.LENGTH];
        int at = 0;
        for (int level = 63 - Long.numberOfLeadingZeros(size | 1); level >= 0; level--) {
            if ((size >>> level & 1) != 0) {
                System.arraycopy(edge, level * Hash.LENGTH, octets, at, Hash.LENGTH);
                at += Hash.LENGTH;
            }
        }
        return octets;
    }

    /// Restores what [#toBytes] gave for a tree of `size` leaves.
    ///
    /// @throws IllegalArgumentException when the octets are not those of a tree of that size
    public static MerkleFrontier of(long size, byte[] octets) {
        if (size < 0 || octets.length != Long.bitCount(size) * Hash.LENGTH) {
            throw new IllegalArgumentException(
                    "the edge of a tree of " + size + " leaves is not " + octets.length + " octets");
        }
        var frontier = new MerkleFrontier();
        frontier.size = size;
        int at = 0;
        for (int level = 63 - Long.numberOfLeadingZeros(size | 1); level >= 0; level--) {
            if ((size >>> level & 1) != 0) {
                System.arraycopy(octets, at, frontier.edge, level * Hash.LENGTH, Hash.LENGTH);
                at += Hash.LENGTH;
            }
        }
        return frontier;
    }
}
