package blackbox.recorder.keys;

import blackbox.files.ProcessLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Keeps two processes, and two threads of one, from making or changing the keys of a folder at the same
/// time.
final class KeysLock {

    private KeysLock() {}

    /// Waits for the folder's lock; makes the folder where it is not there.
    static ProcessLock take(Path folder) throws IOException {
        Files.createDirectories(folder);
        return ProcessLock.take(folder.resolve(".lock"));
    }
}
