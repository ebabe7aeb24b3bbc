package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class TracerFilesTest {

    @Test
    void allOfTheTracerGoesIntoTheGuest() throws IOException {
        var inTree = new TreeMap<String, Long>();
        try (var files = Files.list(Path.of("tracer"))) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                if (name.endsWith(".c") || name.endsWith(".py")) {
                    inTree.put("tracer/" + name, Files.size(file));
                }
            }
        }
        var packed = new TreeMap<String, Long>();
        TracerFiles.all().forEach((name, octets) -> packed.put(name, (long) octets.length));
        assertEquals(inTree, packed);
    }
}
