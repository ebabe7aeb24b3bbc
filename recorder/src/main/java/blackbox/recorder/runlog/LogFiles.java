package blackbox.recorder.runlog;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/// What the log of runs does with files, and nothing else: so that tests can let each single step fail.
///
/// Durability: a file's octets are durable when [#write] returns; that it stands under its name only after [#sync] of
/// its folder. Until then a crash may leave the name as it was, or as it became.
interface LogFiles {

    /// The file's octets, or null where there is none.
    byte @Nullable [] read(Path file) throws IOException;

    /// Whether there is such a file or folder.
    boolean exists(Path file);

    /// Makes the folder and those above it, durably.
    void createFolders(Path folder) throws IOException;

    /// Writes a whole file and forces its octets to the disk; replaces one of that name.
    void write(Path file, byte[] octets) throws IOException;

    /// Gives a file another name in the same folder, in one step, replacing what has it.
    void rename(Path file, Path target) throws IOException;

    /// Makes the names in the folder durable.
    void sync(Path folder) throws IOException;

    /// Removes a folder and the files in it, where it is there.
    void deleteFolder(Path folder) throws IOException;
}
