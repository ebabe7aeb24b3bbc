package blackbox.ingest.table;

import blackbox.files.Folders;
import blackbox.files.ProcessLock;
import blackbox.schemas.folder.DataFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Where one process that writes the table prepares its files and notes what its commit is about to do: the
/// staging folder itself for one that writes alone, a folder in it for each member of a group, under a lock
/// of its own that ends with the process.
///
/// @param lock that a member holds as long as it lives, or null
record Staging(Path folder, @Nullable ProcessLock lock) implements AutoCloseable {

    private static final String MEMBER = "member-";
    private static final String LOCK = "lock";

    /// Of the process that writes alone.
    static Staging alone(DataFolder layout) throws IOException {
        Folders.create(layout.staging());
        return new Staging(layout.staging(), null);
    }

    /// A new one of a member. The caller holds the lock on [DataFolder#ingestOpening].
    ///
    /// @param token that no other member has
    static Staging ofMember(DataFolder layout, String token) throws IOException {
        Path folder = layout.staging().resolve(MEMBER + token);
        Folders.create(folder);
        ProcessLock lock = ProcessLock.tryTake(folder.resolve(LOCK));
        if (lock == null) {
            throw new IOException("another process uses the new folder " + folder);
        }
        return new Staging(folder, lock);
    }

    /// What is done with a folder that a process left.
    @FunctionalInterface
    interface Left {
        void clear(Path folder) throws IOException;
    }

    /// Clears the folders whose process has ended. The caller holds the lock on [DataFolder#ingestOpening].
    static void eachLeft(DataFolder layout, Left left) throws IOException {
        for (Path member : members(layout)) {
            try (ProcessLock free = free(member)) {
                if (free != null) {
                    left.clear(member);
                    clear(member);
                    Files.deleteIfExists(member);
                }
            }
        }
    }

    /// The lock of a member that has ended; null if it lives, or has just taken its folder with it.
    private static @Nullable ProcessLock free(Path member) throws IOException {
        try {
            return ProcessLock.tryTake(member.resolve(LOCK));
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /// Deletes the files in a staging folder.
    static void clear(Path folder) throws IOException {
        for (Path file : entries(folder)) {
            if (!Files.isDirectory(file)) {
                Files.deleteIfExists(file);
            }
        }
    }

    /// The keys of all files that commits are about to add.
    static Set<String> pending(DataFolder layout) throws IOException {
        var pending = new HashSet<>(CommitIntent.read(layout.staging()).added());
        for (Path member : members(layout)) {
            pending.addAll(CommitIntent.read(member).added());
        }
        return pending;
    }

    /// Whether the intent of a commit is older than that: its process is very slow, or has ended and nobody has
    /// looked yet what became of the commit.
    static boolean isPendingSince(DataFolder layout, Instant then) throws IOException {
        var folders = new ArrayList<>(members(layout));
        folders.add(layout.staging());
        for (Path folder : folders) {
            Instant written = CommitIntent.writtenAt(folder);
            if (written != null && written.isBefore(then)) {
                return true;
            }
        }
        return false;
    }

    private static List<Path> members(DataFolder layout) throws IOException {
        var members = new ArrayList<Path>();
        for (Path entry : entries(layout.staging())) {
            if (Files.isDirectory(entry) && String.valueOf(entry.getFileName()).startsWith(MEMBER)) {
                members.add(entry);
            }
        }
        return members;
    }

    private static List<Path> entries(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /// A member's folder stays if a commit of it is not complete: whoever opens the table next completes it.
    @Override
    public void close() throws IOException {
        if (lock == null) {
            return;
        }
        try (lock) {
            if (CommitIntent.read(folder).added().isEmpty()) {
                clear(folder);
                Files.deleteIfExists(folder);
            }
        } catch (DirectoryNotEmptyException e) {
            // Another member found it without a lock, has locked it itself, and deletes it.
        }
    }
}
