package blackbox.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads and replaces whole files. Contract: when [#replace] returns, the file is durable; when it throws, or
/// the process dies during the call, the file is the old one or the new one and never a part of either.
///
/// The contract takes four steps: write the octets to another file, force them to the disk, rename the file,
/// and force its folder to the disk. Callers that must do something in between take the steps one by one:
/// [#stage], [#rename] and [Folders#sync].
///
/// One writer per file. Safe to use from several threads for different files.
public final class AtomicFiles {

    /// What [#replace] has just done.
    public enum Step {
        /// The new octets are on the disk, under another name.
        WRITTEN,
        /// The file has its new name; a crash may undo that.
        RENAMED,
        /// The file and its name are durable.
        SYNCED
    }

    /// Called after each step; what it throws ends the call there, as a crash would. For tests.
    @FunctionalInterface
    public interface Steps {
        void after(Step step) throws IOException;
    }

    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");

    private final Steps steps;

    private AtomicFiles(Steps steps) {
        this.steps = steps;
    }

    /// Files on the disk.
    public static AtomicFiles onDisk() {
        return new AtomicFiles(_ -> {});
    }

    /// Files on the disk, with an observer that is called after each step.
    public static AtomicFiles watchedBy(Steps steps) {
        return new AtomicFiles(steps);
    }

    /// The file's octets; null if there is no such file.
    ///
    /// @throws IOException when it cannot be read or is longer than `octetsMax`
    public byte @Nullable [] read(Path file, int octetsMax) throws IOException {
        try {
            return BoundedFiles.read(file, octetsMax);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /// Replaces the file's content; creates the file and its folder if they are missing.
    public void replace(Path file, byte[] octets) throws IOException {
        Folders.create(Folders.of(file));
        Path staged = staged(file);
        stage(staged, octets);
        publish(staged, file);
    }

    /// As [#replace], with these permissions regardless of the process's umask. Until the file has its name,
    /// only its owner can read it.
    public void replace(Path file, byte[] octets, Set<PosixFilePermission> permissions) throws IOException {
        Folders.create(Folders.of(file));
        Path staged = staged(file);
        Files.deleteIfExists(staged); // left by a crash; its permissions may be anything
        var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        write(staged, octets, options, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        Files.setPosixFilePermissions(staged, permissions);
        publish(staged, file);
    }

    private static Path staged(Path file) throws IOException {
        return Folders.of(file).resolve("." + file.getFileName() + ".new");
    }

    private void publish(Path staged, Path file) throws IOException {
        steps.after(Step.WRITTEN);
        rename(staged, file);
        steps.after(Step.RENAMED);
        Folders.sync(Folders.of(file));
        steps.after(Step.SYNCED);
    }

    /// Writes or replaces a file that is to be renamed: when this returns, its octets are durable, but not
    /// its name.
    public static void stage(Path staged, byte[] octets) throws IOException {
        write(
                staged,
                octets,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE));
    }

    private static void write(Path file, byte[] octets, Set<StandardOpenOption> options, FileAttribute<?>... attributes)
            throws IOException {
        try (FileChannel out = FileChannel.open(file, options, attributes)) {
            ByteBuffer buffer = ByteBuffer.wrap(octets);
            while (buffer.hasRemaining()) {
                out.write(buffer);
            }
            out.force(true);
        }
    }

    /// Renames what was staged, a file or a folder, atomically, replacing any file of that name. A crash may
    /// undo that until the folder is synced ([Folders#sync]).
    public static void rename(Path staged, Path target) throws IOException {
        Files.move(staged, target, StandardCopyOption.ATOMIC_MOVE);
    }

    /// As [#rename], but durable, for what was staged durably.
    public static void put(Path staged, Path target) throws IOException {
        rename(staged, target);
        Folders.sync(Folders.of(target));
    }

    /// Deletes the file durably, if it exists.
    public static void delete(Path file) throws IOException {
        if (Files.deleteIfExists(file)) {
            Folders.sync(Folders.of(file));
        }
    }
}
