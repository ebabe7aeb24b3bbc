package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.evidence.text.Timestamps;
import blackbox.replay.fs.DamagedTreeException;
import blackbox.replay.fs.ErofsTree;
import blackbox.replay.fs.Ext4Tree;
import blackbox.replay.fs.FileTree;
import blackbox.replay.fs.Inode;
import blackbox.replay.fs.SparseInput;
import blackbox.schemas.row.Text;
import blackbox.vm.Command;
import blackbox.vm.VmException;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// File systems on disks that a guest wrote. An input says how an image is not as the real tool made it.
final class DiskTargets {
    /// What is read of one image's files.
    private static final int CONTENT_BYTES_MAX = 1 << 20;
    private static final int INODES_MAX = 256;
    private static final String UUID = "01234567-89ab-cdef-0123-456789abcdef";

    private static byte @Nullable [] ext4;
    private static byte @Nullable [] erofs;

    private DiskTargets() {}

    static List<FuzzTarget> all() {
        return List.of(
                FuzzTarget.of(
                        "ext4",
                        240,
                        changes -> walk(Ext4Tree.open(Scratch.file("ext4", Scratch.patched(ext4(), changes)))),
                        () -> Map.of("unchanged", new byte[0]),
                        DamagedTreeException.class),
                FuzzTarget.of(
                        "erofs",
                        240,
                        changes -> walk(ErofsTree.open(Scratch.file("erofs", Scratch.patched(erofs(), changes)))),
                        () -> Map.of("unchanged", new byte[0]),
                        DamagedTreeException.class));
    }

    /// Reads everything that can be reached, as a comparison of two disks does. Whether there is more than a root.
    private static boolean walk(FileTree tree) throws IOException {
        try (tree) {
            var left = new ArrayDeque<Inode>();
            Set<Long> seen = new HashSet<>();
            left.add(tree.root());
            long read = 0;
            while (!left.isEmpty() && seen.size() < INODES_MAX) {
                Inode inode = left.remove();
                if (!seen.add(inode.number())) {
                    continue;
                }
                check(inode);
                Text attribute = tree.trusted(inode, "overlay.opaque");
                ensure(attribute == null || attribute.length() <= 1 << 16, "an attribute is longer than a block");
                switch (inode.type()) {
                    case FOLDER -> {
                        for (Map.Entry<Text, Long> entry : tree.list(inode).entrySet()) {
                            ensure(isName(entry.getKey()), "a name that no system call can make");
                            left.add(tree.inode(entry.getValue()));
                        }
                    }
                    case FILE -> read += content(tree, inode, CONTENT_BYTES_MAX - read);
                    case LINK -> ensure(tree.target(inode).length() == inode.bytes(), "a target of another length");
                    default -> {}
                }
            }
            return seen.size() > 1;
        }
    }

    private static void check(Inode inode) {
        ensure(inode.bytes() >= 0, "a file of negative length");
        ensure(inode.modifiedNanos() >= 0 && inode.modifiedNanos() < 1_000_000_000, "a time with too many nanoseconds");
        String modified = Timestamps.format(Instant.ofEpochSecond(inode.modifiedSeconds(), inode.modifiedNanos()));
        ensure(modified.length() == "2026-11-22T00:00:00.000000000Z".length(), "a time of another year: " + modified);
    }

    private static boolean isName(Text name) {
        for (byte octet : name.toBytes()) {
            if (octet == 0 || octet == '/') {
                return false;
            }
        }
        return name.length() > 0 && name.length() <= 255;
    }

    private static long content(FileTree tree, Inode file, long bytesMax) throws IOException {
        long octets = 0;
        var buffer = new byte[8 << 10];
        try (InputStream in = tree.open(file)) {
            while (octets < bytesMax) {
                if (in instanceof SparseInput sparse && sparse.zerosAhead() > buffer.length) {
                    long zeros = sparse.zerosAhead();
                    ensure(in.skip(zeros) == zeros, "a hole is shorter than it says");
                    octets += Math.min(zeros, buffer.length);
                    continue;
                }
                int n = in.read(buffer);
                if (n < 0) {
                    break;
                }
                octets += n;
            }
        }
        ensure(octets <= Math.max(bytesMax, 0) + buffer.length, "more is read than was asked for");
        return octets;
    }

    private static byte[] ext4() throws IOException, VmException {
        byte[] made = ext4;
        if (made == null) {
            made = image(
                    256 << 10,
                    (folder, image) -> Command.of(
                                    "mke2fs",
                                    "-q",
                                    "-F",
                                    "-t",
                                    "ext4",
                                    "-b",
                                    "1024",
                                    "-N",
                                    "64",
                                    "-O",
                                    "^has_journal,^resize_inode",
                                    "-U",
                                    UUID,
                                    "-E",
                                    "hash_seed=" + UUID,
                                    "-d",
                                    folder,
                                    image)
                            .with("E2FSPROGS_FAKE_TIME", "1700000000")
                            .run());
            ext4 = made;
        }
        return made;
    }

    private static byte[] erofs() throws IOException, VmException {
        byte[] made = erofs;
        if (made == null) {
            made = image(
                    0,
                    (folder, image) -> Command.of("mkfs.erofs", "-U", UUID, "-T", "1700000000", image, folder)
                            .run());
            erofs = made;
        }
        return made;
    }

    @FunctionalInterface
    private interface Tool {
        void make(String folder, String image) throws VmException;
    }

    /// An image of a few files, folders and links.
    private static byte[] image(long bytes, Tool tool) throws IOException, VmException {
        Path work = Files.createTempDirectory("fuzz-image");
        try {
            Path folder = Files.createDirectories(work.resolve("folder"));
            Files.createDirectories(folder.resolve("etc/deep"));
            Files.writeString(folder.resolve("etc/hostname"), "guest\n");
            Files.writeString(folder.resolve("etc/deep/long"), "0123456789abcdef".repeat(700));
            Files.createSymbolicLink(folder.resolve("short"), Path.of("etc/hostname"));
            Files.createSymbolicLink(folder.resolve("long"), Path.of("e".repeat(100)));
            try (var sparse = new RandomAccessFile(folder.resolve("sparse").toFile(), "rw")) {
                sparse.seek(100_000);
                sparse.write('x');
            }
            Path image = work.resolve("image");
            try (var raw = new RandomAccessFile(image.toFile(), "rw")) {
                raw.setLength(bytes);
            }
            tool.make(folder.toString(), image.toString());
            return Files.readAllBytes(image);
        } finally {
            Scratch.delete(work);
        }
    }
}
