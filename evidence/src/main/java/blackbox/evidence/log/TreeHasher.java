package blackbox.evidence.log;

import blackbox.schemas.Hash;
import blackbox.schemas.Sha256;
import java.security.DigestException;
import java.security.MessageDigest;

/// The hashes of an RFC 6962 Merkle tree (section 2.1; RFC 9162, section 2.1.1): the only place that knows
/// how a leaf and how a node is hashed. Owned by one thread.
public final class TreeHasher {

    /// First octet of what is hashed for a leaf.
    public static final byte LEAF_PREFIX = 0;

    /// First octet of what is hashed for an inner node.
    public static final byte NODE_PREFIX = 1;

    /// The root of the tree without leaves: SHA-256 of nothing.
    public static final Hash EMPTY_ROOT = Hash.sha256(new byte[0]);

    /// Length of what is hashed for a node: prefix, left, right.
    static final int NODE_LENGTH = 1 + 2 * Hash.LENGTH;

    private final MessageDigest digest = Sha256.digest();
    private final byte[] scratch = new byte[NODE_LENGTH];

    /// The hash of a leaf.
    public Hash leaf(byte[] octets) {
        digest.update(LEAF_PREFIX);
        return Hash.copyOf(digest.digest(octets), 0);
    }

    /// The hash of the node over two subtrees.
    public Hash node(Hash left, Hash right) {
        scratch[0] = NODE_PREFIX;
        left.copyTo(scratch, 1);
        right.copyTo(scratch, 1 + Hash.LENGTH);
        return Hash.copyOf(digest.digest(scratch), 0);
    }

    /// Hashes a leaf that is at `offset`, after its prefix, and writes the hash to `target`.
    void prefixedLeaf(byte[] array, int offset, int length, byte[] target, int at) {
        if (array[offset - 1] != LEAF_PREFIX) {
            throw new IllegalArgumentException("a leaf must be preceded by its prefix octet");
        }
        digest.update(array, offset - 1, length + 1);
        digestTo(target, at);
    }

    /// Hashes a node whose prefix, left and right are in `node`, and writes the hash to `target`.
    void prefixedNode(byte[] node, byte[] target, int at) {
        digest.update(node, 0, NODE_LENGTH);
        digestTo(target, at);
    }

    private void digestTo(byte[] target, int at) {
        try {
            digest.digest(target, at, Hash.LENGTH);
        } catch (DigestException e) {
            throw new IllegalStateException("a SHA-256 digest did not fit 32 octets", e);
        }
    }
}
