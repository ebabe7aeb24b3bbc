package blackbox.replay.fs;

import blackbox.replay.fs.RangeInput.Range;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// An ext4 image as `mke2fs` makes it by default, whose journal has been replayed (Linux,
/// `Documentation/filesystems/ext4`). Checksums are not checked: the octets are those that the guest wrote, and
/// nothing more can be claimed of them.
public final class Ext4Tree implements FileTree {
    private static final int SUPERBLOCK_AT = 1024;
    private static final int MAGIC = 0xEF53;
    private static final long ROOT = 2;
    private static final int FILE_TYPES = 0x2;
    private static final int EXTENTS = 0x40;
    private static final int WIDE = 0x80;
    /// File types, extents, 64 bits, flexible groups, checksum seed, large folders: features that do not change
    /// how it is read.
    private static final int KNOWN = FILE_TYPES | EXTENTS | WIDE | 0x200 | 0x2000 | 0x4000;

    private static final int NEEDS_RECOVERY = 0x4;
    private static final int INODE_HAS_EXTENTS = 0x80000;
    private static final int INODE_UNREADABLE = 0x800 | 0x10000000; // encrypted, inline data
    private static final int SHORT_LINK_BYTES_MAX = 59;
    private static final long FOLDER_BYTES_MAX = 256 << 20;

    private final ImageFile image;
    private final StructureReads reads;
    private final int blockBytes;
    private final int inodeBytes;
    private final long inodes;
    private final long inodesPerGroup;
    private final int descriptorBytes;
    private final long descriptorsAt;

    private Ext4Tree(ImageFile image) throws IOException {
        this.image = image;
        this.reads = new StructureReads(image.length());
        ByteBuffer superblock = image.read(SUPERBLOCK_AT, 1024);
        require((superblock.getShort(0x38) & 0xffff) == MAGIC, "the disk no longer holds an ext4 file system");
        int features = superblock.getInt(0x60);
        require((features & NEEDS_RECOVERY) == 0, "the ext4's journal was not replayed");
        require(
                (features & ~KNOWN) == 0 && (features & EXTENTS) != 0 && (features & FILE_TYPES) != 0,
                "the disk is an ext4 with features that are not supported here: " + Integer.toHexString(features));
        int bits = superblock.getInt(0x18);
        require(bits >= 0 && bits <= 5, "an ext4 whose block size is invalid");
        blockBytes = 1024 << bits;
        inodeBytes = superblock.getShort(0x58) & 0xffff;
        require(
                Integer.bitCount(inodeBytes) == 1 && inodeBytes >= 128 && inodeBytes <= blockBytes,
                "an ext4 whose inode size is invalid");
        inodes = superblock.getInt(0) & 0xffffffffL;
        inodesPerGroup = superblock.getInt(0x28) & 0xffffffffL;
        require(inodesPerGroup > 0, "an ext4 with empty groups");
        descriptorBytes = (features & WIDE) == 0 ? 32 : superblock.getShort(0xfe) & 0xffff;
        require(
                descriptorBytes >= 32 && descriptorBytes <= 1024,
                "an ext4 whose group descriptors have an invalid size");
        descriptorsAt = ((superblock.getInt(0x14) & 0xffffffffL) + 1) * blockBytes;
    }

    /// Opens an image whose journal was replayed.
    public static Ext4Tree open(Path image) throws IOException {
        var file = new ImageFile(image);
        try {
            return new Ext4Tree(file);
        } catch (IOException e) {
            file.close();
            throw e;
        }
    }

    private static void require(boolean holds, String otherwise) throws DamagedTreeException {
        if (!holds) {
            throw new DamagedTreeException(otherwise);
        }
    }

    @Override
    public Inode root() throws IOException {
        return inode(ROOT);
    }

    @Override
    public Inode inode(long number) throws IOException {
        ByteBuffer raw = raw(number);
        int mode = raw.getShort(0) & 0xffff;
        FileType type = FileType.ofMode(mode);
        int extra = extraBytes(raw);
        long modified = raw.getInt(0x10);
        int nanos = 0;
        if (extra >= 12) {
            int more = raw.getInt(0x88);
            modified += (more & 3L) << 32;
            nanos = Math.min(more >>> 2, Inode.NANOS_MAX);
        }
        long bytes = raw.getInt(4) & 0xffffffffL | (raw.getInt(0x6c) & 0xffffffffL) << 32;
        require(bytes >= 0, "a file of negative length");
        return new Inode(
                number,
                type,
                mode & 07777,
                raw.getShort(2) & 0xffff | (raw.getShort(0x78) & 0xffffL) << 16,
                raw.getShort(0x18) & 0xffff | (raw.getShort(0x7a) & 0xffffL) << 16,
                raw.getShort(0x1a) & 0xffff,
                bytes,
                Inode.requireTime(modified),
                nanos,
                device(type, raw));
    }

    private static long device(FileType type, ByteBuffer raw) {
        if (type != FileType.CHARACTER_DEVICE && type != FileType.BLOCK_DEVICE) {
            return 0;
        }
        long old = raw.getInt(0x28) & 0xffffffffL;
        return old != 0 ? (old >>> 8 & 0xff) << 32 | old & 0xff : Inode.device(raw.getInt(0x2c) & 0xffffffffL);
    }

    /// How many octets an inode has beyond its first 128.
    private int extraBytes(ByteBuffer raw) {
        int extra = inodeBytes > 128 ? raw.getShort(0x80) & 0xffff : 0;
        return extra <= inodeBytes - 128 ? extra : 0;
    }

    private ByteBuffer raw(long number) throws IOException {
        require(number > 0 && number <= inodes, "there is no inode " + number);
        long group = (number - 1) / inodesPerGroup;
        ByteBuffer descriptor = image.read(descriptorsAt + group * descriptorBytes, descriptorBytes);
        long table = descriptor.getInt(8) & 0xffffffffL;
        if (descriptorBytes >= 64) {
            table |= (descriptor.getInt(0x28) & 0xffffffffL) << 32;
        }
        return image.read(block(table) + (number - 1) % inodesPerGroup * inodeBytes, inodeBytes);
    }

    /// Where a block is in the image.
    private long block(long number) throws DamagedTreeException {
        require(number > 0 && number < image.length() / blockBytes, "the ext4 has no block " + number);
        return number * blockBytes;
    }

    @Override
    public Map<Text, Long> list(Inode folder) throws IOException {
        require(
                folder.type() == FileType.FOLDER && folder.bytes() <= FOLDER_BYTES_MAX,
                "inode " + folder.number() + " is not a folder that can be read");
        var names = new FolderNames();
        try (InputStream in = open(folder)) {
            for (long left = folder.bytes(); left >= blockBytes; left -= blockBytes) {
                reads.add(blockBytes);
                entries(in.readNBytes(blockBytes), names);
            }
        }
        return names.map();
    }

    /// Index blocks look like blocks without entries, so that reading them all in order finds everything.
    private void entries(byte[] octets, FolderNames names) throws DamagedTreeException {
        ByteBuffer block = ByteBuffer.wrap(octets).order(java.nio.ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < blockBytes; ) {
            require(at <= blockBytes - 8, "a folder's entry goes beyond its block");
            long number = block.getInt(at) & 0xffffffffL;
            int length = block.getShort(at + 4) & 0xffff;
            int nameBytes = octets[at + 6] & 0xff;
            require(
                    length >= 8 && length % 4 == 0 && length <= blockBytes - at && nameBytes <= length - 8,
                    "a folder's entry goes beyond its block");
            if (number != 0) {
                Text name = Text.copyOf(octets, at + 8, nameBytes);
                require(nameBytes > 0, "a folder's entry has no name");
                if (Names.isEntry(name)) {
                    require(names.put(name, number) == null, "a folder has two entries of one name");
                }
            }
            at += length;
        }
    }

    @Override
    public InputStream open(Inode file) throws IOException {
        ByteBuffer raw = raw(file.number());
        int flags = raw.getInt(0x20);
        require(
                (flags & INODE_UNREADABLE) == 0,
                "inode " + file.number() + " is encrypted, or stored in a way that is not supported here");
        if ((flags & INODE_HAS_EXTENTS) == 0) {
            require(
                    file.bytes() == 0,
                    "inode " + file.number() + " lists its blocks one by one, which our guests' disks never do");
            return new RangeInput(image, List.of(), 0);
        }
        List<Range> ranges = new Ext4Extents(image, blockBytes, reads).ranges(raw.slice(0x28, 60));
        return new RangeInput(image, ranges, file.bytes());
    }

    @Override
    public Text target(Inode link) throws IOException {
        ByteBuffer raw = raw(link.number());
        if ((raw.getInt(0x20) & INODE_HAS_EXTENTS) == 0 && link.bytes() <= SHORT_LINK_BYTES_MAX) {
            return Names.target(link, new java.io.ByteArrayInputStream(raw.array(), 0x28, 60));
        }
        return Names.target(link, open(link));
    }

    @Override
    public @Nullable Text trusted(Inode inode, String name) throws IOException {
        return attributes(inode).get(Text.of("trusted." + name));
    }

    /// All extended attributes by their whole names, such as `user.comment`.
    public SortedMap<Text, Text> attributes(Inode inode) throws IOException {
        ByteBuffer raw = raw(inode.number());
        var found = new TreeMap<Text, Text>(ORDER);
        int extra = extraBytes(raw);
        int inside = 128 + extra;
        if (extra > 0 && inside <= inodeBytes - 4 && raw.getInt(inside) == Ext4Attributes.MAGIC) {
            int from = inside + 4;
            new Ext4Attributes(raw.slice(from, inodeBytes - from), 0).addTo(found);
        }
        long outside = raw.getInt(0x68) & 0xffffffffL | (raw.getShort(0x76) & 0xffffL) << 32;
        if (outside != 0) {
            ByteBuffer block = image.read(block(outside), blockBytes);
            require(block.getInt(0) == Ext4Attributes.MAGIC, "a block of attributes has no valid header");
            new Ext4Attributes(block, Ext4Attributes.HEADER_BYTES).addTo(found);
        }
        return found;
    }

    /// How many octets of folders and of extents' nodes were read.
    long structureBytesRead() {
        return reads.bytes();
    }

    @Override
    public void close() throws IOException {
        image.close();
    }
}
