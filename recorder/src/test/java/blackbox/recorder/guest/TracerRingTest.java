package blackbox.recorder.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// The tracer maps its ring once, so that what is in it may be in two pieces. In the guest that takes 32 MiB of frames;
/// here its code reads a ring of plain memory.
class TracerRingTest {
    @Test
    void whatGoesAcrossTheRingsEndIsTakenWhole() throws Exception {
        Path program =
                Path.of(TracerRingTest.class.getResource("/tracer/ring.py").toURI());
        Path module = Path.of(Objects.requireNonNull(System.getProperty("basedir")));
        Process python = new ProcessBuilder(
                        "python3",
                        "-B",
                        program.toString(),
                        module.resolve("tracer").toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals("taken whole\n", said);
        assertEquals(0, python.waitFor());
    }
}
