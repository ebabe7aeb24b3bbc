package blackbox.recorder.keys;

import blackbox.files.ProcessLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Keeps two processes, or two threads of one, from creating or changing the keys of a folder at the same
/// time.
final class KeysLock {

    private KeysLock() {}

    /// Waits for the folder's lock; creates the folder if it does not exist.
    static ProcessLock take(Path folder) throws IOException {
        Files.createDirectories(folder);
        return ProcessLock.take(folder.resolve(".lock"));
    }
}
