package blackbox.replay.fs;

import blackbox.replay.fs.RangeInput.Range;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/// Where a file's blocks are: a tree whose leaves are runs of blocks.
final class Ext4Extents {
    private static final int MAGIC = 0xF30A;
    private static final int ENTRY_BYTES = 12;
    private static final int DEPTH_MAX = 5;
    private static final int NODES_MAX = 1 << 20;
    private static final int WRITTEN_BLOCKS_MAX = 32_768;

    private final ImageFile image;
    private final int blockBytes;
    private final List<Range> ranges = new ArrayList<>();
    private int nodes;

    Ext4Extents(ImageFile image, int blockBytes) {
        this.image = image;
        this.blockBytes = blockBytes;
    }

    /// The file's ranges, ordered by their position in it.
    ///
    /// @param root the sixty octets in the inode
    List<Range> ranges(ByteBuffer root) throws IOException {
        walk(root.order(ByteOrder.LITTLE_ENDIAN), DEPTH_MAX + 1);
        long end = 0;
        for (Range range : ranges) {
            if (range.at() < end) {
                throw new DamagedTreeException("two extents of a file overlap");
            }
            end = range.at() + range.length();
        }
        return ranges;
    }

    private void walk(ByteBuffer node, int above) throws IOException {
        int entries = node.getShort(2) & 0xffff;
        int depth = node.getShort(6) & 0xffff;
        if ((node.getShort(0) & 0xffff) != MAGIC
                || depth >= above
                || entries > node.limit() / ENTRY_BYTES - 1
                || ++nodes > NODES_MAX
                || ranges.size() > NODES_MAX) {
            throw new DamagedTreeException("a file's extents do not add up");
        }
        for (int at = ENTRY_BYTES; at <= entries * ENTRY_BYTES; at += ENTRY_BYTES) {
            if (depth == 0) {
                leaf(node, at);
            } else {
                long block = node.getInt(at + 4) & 0xffffffffL | (node.getShort(at + 8) & 0xffffL) << 32;
                walk(image.read(place(block, 1), blockBytes), depth);
            }
        }
    }

    private void leaf(ByteBuffer node, int at) throws DamagedTreeException {
        long first = node.getInt(at) & 0xffffffffL;
        int blocks = node.getShort(at + 4) & 0xffff;
        if (blocks > WRITTEN_BLOCKS_MAX) {
            return; // allocated and never written: zeros
        }
        long start = node.getInt(at + 8) & 0xffffffffL | (node.getShort(at + 6) & 0xffffL) << 32;
        ranges.add(new Range(first * blockBytes, (long) blocks * blockBytes, place(start, blocks)));
    }

    private long place(long block, int count) throws DamagedTreeException {
        long all = image.length() / blockBytes;
        if (block <= 0 || block > all - count) {
            throw new DamagedTreeException("a file's extents point outside of the disk");
        }
        return block * blockBytes;
    }
}
