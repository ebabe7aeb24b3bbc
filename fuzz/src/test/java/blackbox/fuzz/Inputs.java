package blackbox.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/// The inputs that are kept in the sources: each once broke its target, and is named by what it showed.
final class Inputs {
    private Inputs() {}

    /// Those of one target, by name.
    ///
    /// @param module this module's folder
    static Map<String, byte[]> of(Path module, String target) throws IOException {
        var inputs = new TreeMap<String, byte[]>();
        Path folder = folder(module).resolve(target);
        if (Files.isDirectory(folder)) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : files.toList()) {
                    inputs.put(file.getFileName().toString(), Files.readAllBytes(file));
                }
            }
        }
        return inputs;
    }

    static Path folder(Path module) {
        return module.resolve("src/test/resources/inputs");
    }
}
