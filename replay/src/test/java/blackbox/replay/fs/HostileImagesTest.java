package blackbox.replay.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.text.Timestamps;
import blackbox.schemas.row.Text;
import blackbox.vm.Command;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Images that no kernel makes and that would cost without end. What is bounded is counted: octets, not seconds.
class HostileImagesTest {
    private static final int BLOCK = 1024;
    private static final int EXTENTS_MAGIC = 0xF30A;
    private static final int ENTRIES_OF_A_BLOCK = BLOCK / 12 - 1;
    private static final int BLOCKS = 4096;

    @TempDir
    Path folder;

    /// A node of extents: a header, and entries of twelve octets.
    private static ByteBuffer node(int bytes, int entries, int depth) {
        return ByteBuffer.allocate(bytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort((short) EXTENTS_MAGIC)
                .putShort((short) entries)
                .putShort((short) entries)
                .putShort((short) depth)
                .putInt(0);
    }

    /// All entries of which lead to the same block.
    private static ByteBuffer index(int bytes, int entries, int depth, int block) {
        ByteBuffer node = node(bytes, entries, depth);
        for (int i = 0; i < entries; i++) {
            node.putInt(i).putInt(block).putInt(0);
        }
        return node.rewind();
    }

    private static ByteBuffer leaf(int entries, int blocks, int first) {
        ByteBuffer node = node(BLOCK, entries, 0);
        for (int i = 0; i < entries; i++) {
            node.putInt(first + i * blocks)
                    .putShort((short) blocks)
                    .putShort((short) 0)
                    .putInt(1);
        }
        return node.rewind();
    }

    /// Reads the extents of a file with `root` in its inode, in an image of 4 MiB whose blocks from 1 on are `nodes`.
    private String refusal(StructureReads reads, ByteBuffer root, ByteBuffer... nodes) throws IOException {
        Path path = folder.resolve("extents");
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (int i = 0; i < nodes.length; i++) {
                file.write(nodes[i], (i + 1L) * BLOCK);
            }
            file.write(ByteBuffer.allocate(1), (long) BLOCKS * BLOCK - 1);
        }
        try (var image = new ImageFile(path)) {
            var extents = new Ext4Extents(image, BLOCK, reads);
            return String.valueOf(assertThrows(DamagedTreeException.class, () -> extents.ranges(root))
                    .getMessage());
        }
    }

    private static StructureReads unbounded() {
        return new StructureReads(Long.MAX_VALUE / StructureReads.TIMES_MAX);
    }

    /// Five levels in which every entry leads to the same node: 84^4 × 4 leaves, and five blocks.
    private String fiveLevels(StructureReads reads, ByteBuffer leaf) throws IOException {
        return refusal(
                reads,
                index(60, 4, 5, 1),
                index(BLOCK, ENTRIES_OF_A_BLOCK, 4, 2),
                index(BLOCK, ENTRIES_OF_A_BLOCK, 3, 3),
                index(BLOCK, ENTRIES_OF_A_BLOCK, 2, 4),
                index(BLOCK, ENTRIES_OF_A_BLOCK, 1, 5),
                leaf);
    }

    @Test
    void aNodeThatIsReadAgainGoesBackInTheFileAndIsRefused() throws Exception {
        StructureReads reads = unbounded();
        assertEquals("two extents of a file overlap, or are not in its order", fiveLevels(reads, leaf(1, 1, 0)));
        assertEquals(6 * BLOCK, reads.bytes());
    }

    @Test
    void emptyNodesAreReadNoMoreOftenThanTheImageHasBlocks() throws Exception {
        StructureReads reads = unbounded();
        assertEquals("a file's extents do not add up", fiveLevels(reads, leaf(0, 0, 0)));
        assertEquals(BLOCKS * BLOCK, reads.bytes(), "the root is in the inode");
    }

    @Test
    void aFileHasNoMoreBlocksThanItsDisk() throws Exception {
        assertEquals(
                "a file's extents have more blocks than the disk",
                refusal(unbounded(), index(60, 1, 1, 1), leaf(ENTRIES_OF_A_BLOCK, BLOCKS - 1, 0)));
    }

    private Path ext4(int mebibytes, List<String> commands) throws Exception {
        Path image = folder.resolve("image.ext4");
        try (var raw = new RandomAccessFile(image.toFile(), "rw")) {
            raw.setLength((long) mebibytes << 20);
        }
        Command.of("mke2fs", "-q", "-F", "-t", "ext4", "-b", "1024", "-O", "^has_journal", image.toString())
                .run();
        Path script = Files.write(folder.resolve("commands"), commands);
        Command.of("debugfs", "-w", "-f", script.toString(), image.toString()).run();
        return image;
    }

    private static Inode find(FileTree tree, String name) throws IOException {
        Long number = tree.list(tree.root()).get(Text.of(name));
        assertNotNull(number, name);
        return tree.inode(number);
    }

    /// As the walk over many names of one file does, or over many inodes with the same nodes.
    @Test
    void nodesAreReadOverAndOverOnlySoOften() throws Exception {
        Path sparse = folder.resolve("sparse");
        try (FileChannel file = FileChannel.open(sparse, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (int i = 0; i < 200; i++) {
                file.write(ByteBuffer.allocate(BLOCK).put(0, (byte) 1), 2L * i * BLOCK);
            }
        }
        Path image = ext4(1, List.of("write " + sparse + " file"));
        try (Ext4Tree tree = Ext4Tree.open(image)) {
            Inode file = find(tree, "file");
            long before = tree.structureBytesRead();
            tree.open(file).close();
            long once = tree.structureBytesRead() - before;
            assertTrue(once >= 3 * BLOCK, () -> once + " octets of nodes");
            var refused = assertThrows(DamagedTreeException.class, () -> {
                for (long i = 0; i <= StructureReads.TIMES_MAX * Files.size(image) / once; i++) {
                    tree.open(file).close();
                }
            });
            assertTrue(String.valueOf(refused.getMessage()).contains("more than " + (16 << 20)), refused.getMessage());
            assertTrue(tree.structureBytesRead() <= StructureReads.TIMES_MAX * Files.size(image));
        }
    }

    @Test
    void foldersAreReadOverAndOverOnlySoOften() throws Exception {
        Path image = ext4(1, List.of("mkdir some"));
        try (Ext4Tree tree = Ext4Tree.open(image)) {
            Inode root = tree.root();
            assertThrows(DamagedTreeException.class, () -> {
                for (long i = 0; i <= StructureReads.TIMES_MAX * Files.size(image) / BLOCK; i++) {
                    tree.list(root);
                }
            });
            assertTrue(tree.structureBytesRead() <= StructureReads.TIMES_MAX * Files.size(image));
        }
    }

    /// 1,048,640 names of eight octets: 17 MB of a disk, and as objects more than is kept.
    @Test
    void aFolderHasNoMoreNamesThanFitIntoItsShareOfMemory() throws Exception {
        long names = FolderNames.BYTES_MAX / (FolderNames.ENTRY_BYTES + 8) + BLOCK / 16;
        ByteBuffer entries = ByteBuffer.allocate((int) names * 16).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < names; i++) {
            entries.putInt(12).putShort((short) 16).put((byte) 8).put((byte) 1);
            entries.put("%08x".formatted(i).getBytes(StandardCharsets.US_ASCII));
        }
        Path content = Files.write(folder.resolve("content"), entries.array());
        Path image = ext4(20, List.of("write " + content + " crowd", "set_inode_field crowd mode 040755"));
        try (Ext4Tree tree = Ext4Tree.open(image)) {
            Inode crowd = find(tree, "crowd");
            assertEquals(FileType.FOLDER, crowd.type());
            var refused = assertThrows(DamagedTreeException.class, () -> tree.list(crowd));
            assertTrue(String.valueOf(refused.getMessage()).contains("128 MiB of memory"), refused.getMessage());
        }
    }

    @Test
    void theLastTimeOfAnExt4IsInTheYear2446() throws Exception {
        Path image =
                ext4(1, List.of("set_inode_field / mtime @0x7fffffff", "set_inode_field / mtime_extra 0xffffffff"));
        try (Ext4Tree tree = Ext4Tree.open(image)) {
            assertEquals("2446-05-10T22:38:55.999999999Z", modified(tree.root()));
        }
    }

    private static String modified(Inode inode) {
        return Timestamps.format(Instant.ofEpochSecond(inode.modifiedSeconds(), inode.modifiedNanos()));
    }

    /// An image whose inodes have times of their own, and where that of its root is.
    private long erofs(Path image) throws Exception {
        Path tree = Files.createDirectories(folder.resolve("tree"));
        Command.of("mkfs.erofs", "-d0", "-x-1", "-T1", "-Eforce-inode-extended", image.toString(), tree.toString())
                .run();
        ByteBuffer octets = ByteBuffer.wrap(Files.readAllBytes(image)).order(ByteOrder.LITTLE_ENDIAN);
        long inodesAt = (long) octets.getInt(1024 + 40) << octets.get(1024 + 12);
        return inodesAt + octets.getShort(1024 + 14) * 32L + 32;
    }

    private static void write(Path image, long at, long seconds, int nanos) throws IOException {
        ByteBuffer time = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel file = FileChannel.open(image, StandardOpenOption.WRITE)) {
            file.write(time.putLong(seconds).putInt(nanos).rewind(), at);
        }
    }

    @Test
    void timesOfAnErofsAreThoseThatCanBeTold() throws Exception {
        Path image = folder.resolve("image.erofs");
        long rootsTime = erofs(image);
        long last = Instant.parse("9999-12-31T23:59:59Z").getEpochSecond();
        write(image, rootsTime, last, -1);
        try (ErofsTree tree = ErofsTree.open(image)) {
            assertEquals("9999-12-31T23:59:59.999999999Z", modified(tree.root()));
        }
        for (long seconds : List.of(last + 1, Long.MAX_VALUE, Long.MIN_VALUE)) {
            write(image, rootsTime, seconds, 0);
            try (ErofsTree tree = ErofsTree.open(image)) {
                assertThrows(DamagedTreeException.class, tree::root);
            }
        }
    }

    @Test
    void theTimeAnErofsWasBuiltIsOneThatCanBeTold() throws Exception {
        Path image = folder.resolve("image.erofs");
        erofs(image);
        write(image, 1024 + 24, Long.MAX_VALUE, 0);
        assertThrows(DamagedTreeException.class, () -> ErofsTree.open(image).close());
    }
}
