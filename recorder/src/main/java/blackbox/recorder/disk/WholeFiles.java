package blackbox.recorder.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/// Reads and replaces whole files. Contract: when [#replace] returns, the file is durable; when it throws,
/// or the process dies in it, the file is the old one or the new one and never a part of either.
///
/// One writer per file. Safe to use from several threads for different files.
public final class WholeFiles {

    /// What [#replace] has just done.
    public enum Step {
        /// The new octets are on the disk, under another name.
        WRITTEN,
        /// The file has them; a crash may undo that.
        RENAMED,
        /// The file has them for good.
        SYNCED
    }

    /// Hears of each step; what it throws ends the call there, as a crash would. For tests.
    @FunctionalInterface
    public interface Steps {
        void after(Step step) throws IOException;
    }

    private final Steps steps;

    private WholeFiles(Steps steps) {
        this.steps = steps;
    }

    /// Files on the disk.
    public static WholeFiles onDisk() {
        return new WholeFiles(_ -> {});
    }

    /// Files on the disk, with someone who hears of each step.
    public static WholeFiles watchedBy(Steps steps) {
        return new WholeFiles(steps);
    }

    /// The file's octets; null where there is no such file.
    ///
    /// @throws IOException when it cannot be read or is longer than `octetsMax`
    public byte @Nullable [] read(Path file, int octetsMax) throws IOException {
        try {
            if (Files.size(file) > octetsMax) {
                throw new IOException(file + " is longer than the " + octetsMax + " octets that are read");
            }
            return Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /// Gives the file these octets; makes it, and the folder it is in, where they are missing.
    public void replace(Path file, byte[] octets) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null) {
            throw new IOException(file + " is no file");
        }
        makeFolder(folder);
        Path staged = folder.resolve("." + file.getFileName() + ".new");
        try (FileChannel out = FileChannel.open(
                staged, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer buffer = ByteBuffer.wrap(octets);
            while (buffer.hasRemaining()) {
                out.write(buffer);
            }
            out.force(true);
        }
        steps.after(Step.WRITTEN);
        Files.move(staged, file, StandardCopyOption.ATOMIC_MOVE);
        steps.after(Step.RENAMED);
        sync(folder);
        steps.after(Step.SYNCED);
    }

    private static void makeFolder(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        Path parent = folder.getParent();
        if (parent != null) {
            makeFolder(parent);
            Files.createDirectories(folder);
            sync(parent);
        }
    }

    private static void sync(Path folder) throws IOException {
        try (FileChannel directory = FileChannel.open(folder, StandardOpenOption.READ)) {
            directory.force(true);
        }
    }
}
