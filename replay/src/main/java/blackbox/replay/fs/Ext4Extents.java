package blackbox.replay.fs;

import blackbox.replay.fs.RangeInput.Range;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/// Where a file's blocks are: a tree whose leaves are runs of blocks, in the order of the file. As in what a kernel
/// writes, no node and no block is in it twice; each bound here is a number of blocks that the image has.
final class Ext4Extents {
    private static final int MAGIC = 0xF30A;
    private static final int ENTRY_BYTES = 12;
    private static final int DEPTH_MAX = 5;
    private static final int NODES_MAX = 1 << 20;
    private static final int WRITTEN_BLOCKS_MAX = 32_768;

    private final ImageFile image;
    private final int blockBytes;
    private final long blocksOfImage;
    private final StructureReads reads;
    private final List<Range> ranges = new ArrayList<>();
    private int nodes;
    private long next;
    private long blocksHeld;

    Ext4Extents(ImageFile image, int blockBytes, StructureReads reads) {
        this.image = image;
        this.blockBytes = blockBytes;
        this.blocksOfImage = image.length() / blockBytes;
        this.reads = reads;
    }

    /// The file's ranges, ordered by their position in it.
    ///
    /// @param root the sixty octets in the inode
    List<Range> ranges(ByteBuffer root) throws IOException {
        walk(root.order(ByteOrder.LITTLE_ENDIAN), DEPTH_MAX + 1);
        return ranges;
    }

    private void walk(ByteBuffer node, int above) throws IOException {
        int entries = node.getShort(2) & 0xffff;
        int depth = node.getShort(6) & 0xffff;
        if ((node.getShort(0) & 0xffff) != MAGIC
                || depth >= above
                || entries > node.limit() / ENTRY_BYTES - 1
                || ++nodes > Math.min(NODES_MAX, blocksOfImage)
                || ranges.size() > NODES_MAX) {
            throw new DamagedTreeException("a file's extents do not add up");
        }
        for (int at = ENTRY_BYTES; at <= entries * ENTRY_BYTES; at += ENTRY_BYTES) {
            if (depth == 0) {
                leaf(node, at);
            } else {
                long block = node.getInt(at + 4) & 0xffffffffL | (node.getShort(at + 8) & 0xffffL) << 32;
                reads.add(blockBytes);
                walk(image.read(place(block, 1), blockBytes), depth);
            }
        }
    }

    private void leaf(ByteBuffer node, int at) throws DamagedTreeException {
        long first = node.getInt(at) & 0xffffffffL;
        int stated = node.getShort(at + 4) & 0xffff;
        boolean written = stated <= WRITTEN_BLOCKS_MAX;
        int blocks = written ? stated : stated - WRITTEN_BLOCKS_MAX;
        if (blocks == 0 || first < next) {
            throw new DamagedTreeException("two extents of a file overlap, or are not in its order");
        }
        next = first + blocks;
        if (!written) {
            return; // allocated and never written: zeros
        }
        blocksHeld += blocks;
        if (blocksHeld > blocksOfImage) {
            throw new DamagedTreeException("a file's extents have more blocks than the disk");
        }
        long start = node.getInt(at + 8) & 0xffffffffL | (node.getShort(at + 6) & 0xffffL) << 32;
        ranges.add(new Range(first * blockBytes, (long) blocks * blockBytes, place(start, blocks)));
    }

    private long place(long block, int count) throws DamagedTreeException {
        if (block <= 0 || block > blocksOfImage - count) {
            throw new DamagedTreeException("a file's extents point outside of the disk");
        }
        return block * blockBytes;
    }
}
