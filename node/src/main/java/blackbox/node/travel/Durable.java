package blackbox.node.travel;

import blackbox.files.Folders;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Files that are written once and must survive a power cut.
final class Durable {

    private static final int BLOCK_BYTES = 1 << 16;
    private static final int SYNCED_AT_ONCE = 16;

    private Durable() {}

    /// Makes everything below a folder durable: several files at once, which the file system's journal then
    /// takes together.
    static void sync(Path folder) throws IOException {
        List<Path> folders = new ArrayList<>();
        List<Callable<Void>> files = new ArrayList<>();
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                if (Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS)) {
                    folders.add(each);
                } else if (!Files.isSymbolicLink(each)) {
                    files.add(() -> syncFile(each));
                }
            }
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(SYNCED_AT_ONCE)) {
            for (Future<Void> each : threads.invokeAll(files)) {
                Void unused = each.get();
            }
        } catch (ExecutionException e) {
            throw new IOException(
                    "a file below " + folder + " could not be made durable: " + e.getMessage(), e.getCause());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while " + folder + " was made durable");
        }
        for (Path each : folders) {
            Folders.sync(each);
        }
    }

    private static @Nullable Void syncFile(Path file) throws IOException {
        try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.force(true);
        }
        return null;
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
