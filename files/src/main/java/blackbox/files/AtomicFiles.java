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

/// Reads and replaces whole files. Contract: when [#replace] returns, the file is durable; when it throws,
/// or the process dies in it, the file is the old one or the new one and never a part of either.
///
/// The contract takes four steps: the octets go to another file, are forced to the disk, the file is renamed, and its
/// folder is forced to the disk. Whoever has to do something in between takes them one by one: [#stage], [#rename]
/// and [Folders#sync].
///
/// One writer per file. Safe to use from several threads for different files.
public final class AtomicFiles {

    /// What [#replace] has just done.
    public enum Step {
        /// The new octets are on the disk, under another name.
        WRITTEN,
        /// The file has them; a crash may undo that.
        RENAMED,
        /// The file has them for good.
        SYNCED
    }

    /// Is told of each step; what it throws ends the call there, as a crash would. For tests.
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

    /// Files on the disk, with someone who is told of each step.
    public static AtomicFiles watchedBy(Steps steps) {
        return new AtomicFiles(steps);
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
        Folders.create(Folders.of(file));
        Path staged = staged(file);
        stage(staged, octets);
        publish(staged, file);
    }

    /// As [#replace], for a file with these permissions whatever the process's umask is. Until it has its name, only
    /// its
    /// owner can read it.
    public void replace(Path file, byte[] octets, Set<PosixFilePermission> permissions) throws IOException {
        Folders.create(Folders.of(file));
        Path staged = staged(file);
        Files.deleteIfExists(staged); // by a crash; its permissions may be any
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

    /// Writes a file that is to be renamed, or replaces it: its octets are durable when this returns, its name is not.
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

    /// Gives what was staged, a file or a folder, its name in one step, in place of the file that has it. A crash may
    /// undo that until the folder is synced ([Folders#sync]).
    public static void rename(Path staged, Path target) throws IOException {
        Files.move(staged, target, StandardCopyOption.ATOMIC_MOVE);
    }

    /// [#rename], durably: for what was staged durably.
    public static void put(Path staged, Path target) throws IOException {
        rename(staged, target);
        Folders.sync(Folders.of(target));
    }

    /// Deletes the file where it is there, durably.
    public static void delete(Path file) throws IOException {
        if (Files.deleteIfExists(file)) {
            Folders.sync(Folders.of(file));
        }
    }
}
