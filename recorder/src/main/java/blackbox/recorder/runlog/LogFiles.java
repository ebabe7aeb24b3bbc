package blackbox.recorder.runlog;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// The file operations of the log of runs, and nothing else, so that tests can make each single step fail.
///
/// Durability: a file's octets are durable when [#write] returns, its name only after [#sync] of its folder.
/// Until then a crash may leave the old name or the new one.
interface LogFiles {

    /// The file's octets, or null if there is none.
    byte @Nullable [] read(Path file) throws IOException;

    /// Whether there is such a file or folder.
    boolean exists(Path file);

    /// Creates the folder and those above it, durably.
    void createFolders(Path folder) throws IOException;

    /// Writes a whole file and forces its octets to the disk; replaces any file of that name.
    void write(Path file, byte[] octets) throws IOException;

    /// Renames a file within its folder atomically, replacing any file of that name.
    void rename(Path file, Path target) throws IOException;

    /// Makes the folder's entries durable.
    void sync(Path folder) throws IOException;

    /// Removes a folder and the files in it, if it exists.
    void deleteFolder(Path folder) throws IOException;
}
