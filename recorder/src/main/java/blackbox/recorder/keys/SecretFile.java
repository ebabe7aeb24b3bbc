package blackbox.recorder.keys;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/// Reads secrets from files. What a pipe had (`/dev/fd/N`, a shell's `<(…)`) can be read only once, and a pair
/// of keys
/// needs it twice: it is kept until this process ends.
final class SecretFile {

    /// Guarded by itself.
    private static final Map<Path, char[]> PIPED = new HashMap<>();

    private SecretFile() {}

    /// The file's text without white space around it; the caller clears it.
    static char[] read(Path file) throws IOException {
        if (Files.isRegularFile(file)) {
            return text(file);
        }
        synchronized (PIPED) {
            char[] kept = PIPED.get(file);
            if (kept == null) {
                kept = text(file);
                PIPED.put(file, kept);
            }
            return kept.clone();
        }
    }

    private static char[] text(Path file) throws IOException {
        return Files.readString(file).strip().toCharArray();
    }
}
