package blackbox.replay.fs;

import blackbox.replay.fs.RangeInput.Range;
import blackbox.schemas.row.Text;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// An EROFS image without compression, such as the read-only roots of our images (Linux,
/// `Documentation/filesystems/erofs.rst`). Its files have no extended attributes.
public final class ErofsTree implements FileTree {
    private static final int SUPERBLOCK_AT = 1024;
    private static final int MAGIC = 0xE0F5E1E2;
    private static final int SLOT_BYTES = 32;
    private static final int DIRENT_BYTES = 12;
    private static final int NAME_BYTES_MAX = 255;
    private static final long FOLDER_BYTES_MAX = 64 << 20;
    private static final int FLAT = 0;
    private static final int FLAT_WITH_TAIL = 2;

    private final ImageFile image;
    private final StructureReads reads;
    private final int blockBits;
    private final long inodesAt;
    private final long rootNumber;
    private final long builtSeconds;
    private final int builtNanos;

    private ErofsTree(ImageFile image) throws IOException {
        this.image = image;
        this.reads = new StructureReads(image.length());
        ByteBuffer superblock = image.read(SUPERBLOCK_AT, 128);
        if (superblock.getInt(0) != MAGIC) {
            throw new DamagedTreeException("the image is not an EROFS file system");
        }
        blockBits = superblock.get(12);
        if (blockBits < 9 || blockBits > 16 || superblock.getInt(80) != 0) {
            throw new DamagedTreeException("an EROFS with features that are not supported here");
        }
        rootNumber = superblock.getShort(14) & 0xffff;
        builtSeconds = Inode.requireTime(superblock.getLong(24));
        builtNanos = nanos(superblock.getInt(32));
        inodesAt = (superblock.getInt(40) & 0xffffffffL) << blockBits;
    }

    /// Opens an image.
    public static ErofsTree open(Path image) throws IOException {
        var file = new ImageFile(image);
        try {
            return new ErofsTree(file);
        } catch (IOException e) {
            file.close();
            throw e;
        }
    }

    @Override
    public Inode root() throws IOException {
        return inode(rootNumber);
    }

    @Override
    public Inode inode(long number) throws IOException {
        ByteBuffer raw = raw(number);
        int mode = raw.getShort(4) & 0xffff;
        FileType type = FileType.ofMode(mode);
        boolean device = type == FileType.CHARACTER_DEVICE || type == FileType.BLOCK_DEVICE;
        long encoded = device ? Inode.device(raw.getInt(16) & 0xffffffffL) : 0;
        int permissions = mode & 07777;
        if (raw.limit() == SLOT_BYTES) {
            return new Inode(
                    number,
                    type,
                    permissions,
                    raw.getShort(24) & 0xffff,
                    raw.getShort(26) & 0xffff,
                    raw.getShort(6) & 0xffff,
                    raw.getInt(8) & 0xffffffffL,
                    builtSeconds,
                    builtNanos,
                    encoded);
        }
        return new Inode(
                number,
                type,
                permissions,
                raw.getInt(24) & 0xffffffffL,
                raw.getInt(28) & 0xffffffffL,
                raw.getInt(44) & 0xffffffffL,
                length(raw.getLong(8)),
                Inode.requireTime(raw.getLong(32)),
                nanos(raw.getInt(40)),
                encoded);
    }

    private static int nanos(int stored) {
        return (int) Math.min(stored & 0xffffffffL, Inode.NANOS_MAX);
    }

    private static long length(long bytes) throws DamagedTreeException {
        if (bytes < 0) {
            throw new DamagedTreeException("a file of negative length");
        }
        return bytes;
    }

    /// An inode's own octets, 32 or 64.
    private ByteBuffer raw(long number) throws IOException {
        if (number < 0 || number > image.length() / SLOT_BYTES) {
            throw new DamagedTreeException("there is no inode " + number);
        }
        long at = inodesAt + number * SLOT_BYTES;
        boolean extended = (image.read(at, 2).getShort(0) & 1) != 0;
        return image.read(at, extended ? 2 * SLOT_BYTES : SLOT_BYTES);
    }

    @Override
    public Map<Text, Long> list(Inode folder) throws IOException {
        if (folder.type() != FileType.FOLDER || folder.bytes() > FOLDER_BYTES_MAX) {
            throw new DamagedTreeException("inode " + folder.number() + " is not a folder that can be read");
        }
        reads.add(folder.bytes());
        byte[] octets = open(folder).readNBytes((int) folder.bytes());
        var names = new FolderNames();
        for (int at = 0; at < octets.length; at += 1 << blockBits) {
            block(octets, at, Math.min(octets.length, at + (1 << blockBits)), names);
        }
        return names.map();
    }

    /// The entries of one block: first all their fixed parts, then all their names.
    private static void block(byte[] octets, int from, int to, FolderNames names) throws DamagedTreeException {
        ByteBuffer block = ByteBuffer.wrap(octets, from, to - from).slice().order(java.nio.ByteOrder.LITTLE_ENDIAN);
        int size = block.limit();
        int first = size < DIRENT_BYTES ? 0 : block.getShort(8) & 0xffff;
        if (first < DIRENT_BYTES || first > size || first % DIRENT_BYTES != 0) {
            throw new DamagedTreeException("a folder's block is inconsistent");
        }
        for (int at = 0; at < first; at += DIRENT_BYTES) {
            int start = block.getShort(at + 8) & 0xffff;
            int end = at + DIRENT_BYTES < first ? block.getShort(at + DIRENT_BYTES + 8) & 0xffff : size;
            while (end > start && end <= size && block.get(end - 1) == 0) {
                end--;
            }
            if (start < first || end <= start || end > size || end - start > NAME_BYTES_MAX) {
                throw new DamagedTreeException("a folder's entry has no name");
            }
            Text name = Text.copyOf(octets, from + start, end - start);
            if (Names.isEntry(name)) {
                names.put(name, block.getLong(at));
            }
        }
    }

    @Override
    public InputStream open(Inode file) throws IOException {
        ByteBuffer raw = raw(file.number());
        int format = raw.getShort(0) & 0xffff;
        int layout = format >>> 1 & 7;
        long data = (raw.getInt(16) & 0xffffffffL) << blockBits;
        long length = file.bytes();
        if (layout == FLAT) {
            return new RangeInput(image, List.of(new Range(0, length, data)), length);
        }
        if (layout != FLAT_WITH_TAIL) {
            throw new DamagedTreeException("an EROFS file whose layout, " + layout + ", is not supported here");
        }
        int attributes = raw.getShort(2) & 0xffff;
        long tailAt = inodesAt
                + file.number() * SLOT_BYTES
                + raw.limit()
                + (attributes == 0 ? 0 : 12 + 4L * (attributes - 1));
        long whole = length == 0 ? 0 : length - 1 >>> blockBits << blockBits;
        var ranges = new ArrayList<Range>();
        if (whole > 0) {
            ranges.add(new Range(0, whole, data));
        }
        ranges.add(new Range(whole, length - whole, tailAt));
        return new RangeInput(image, ranges, length);
    }

    @Override
    public Text target(Inode link) throws IOException {
        return Names.target(link, open(link));
    }

    @Override
    public @Nullable Text trusted(Inode inode, String name) {
        return null;
    }

    @Override
    public void close() throws IOException {
        image.close();
    }
}
