package blackbox.node.travel;

import blackbox.files.Folders;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;

/// Files that are written once and must survive a power cut.
final class Durable {

    private static final int BLOCK_BYTES = 1 << 16;

    private Durable() {}

    /// Makes everything below a folder durable.
    static void sync(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                if (Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS)) {
                    Folders.sync(each);
                } else if (!Files.isSymbolicLink(each)) {
                    try (var file = FileChannel.open(each, StandardOpenOption.READ)) {
                        file.force(true);
                    }
                }
            }
        }
    }

    /// Writes a new file, with holes where `in` has nothing but zeros. Not durable yet.
    ///
    /// @param bytes how many octets `in` has
    static void write(Path file, InputStream in, long bytes, boolean program) throws IOException {
        Folders.create(file.resolveSibling("."));
        var mode = PosixFilePermissions.asFileAttribute(
                PosixFilePermissions.fromString(program ? "rwx------" : "rw-------"));
        var block = new byte[BLOCK_BYTES];
        var zeros = new byte[BLOCK_BYTES];
        try (var out = FileChannel.open(file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode)) {
            long at = 0;
            while (at < bytes) {
                int count = in.readNBytes(block, 0, (int) Math.min(BLOCK_BYTES, bytes - at));
                if (count == 0) {
                    throw new IOException(file + " ended early");
                }
                boolean last = at + count == bytes;
                if (last || !Arrays.equals(block, 0, count, zeros, 0, count)) {
                    for (ByteBuffer left = ByteBuffer.wrap(block, 0, count); left.hasRemaining(); ) {
                        out.write(left, at + left.position());
                    }
                }
                at += count;
            }
        }
    }
}
