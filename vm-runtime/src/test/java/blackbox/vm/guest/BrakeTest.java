package blackbox.vm.guest;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/// A held process stops for that long, and always resumes.
class BrakeTest {
    private static final Duration HELD = Duration.ofMillis(400);

    @Test
    void itStopsAndResumes() throws Exception {
        Process echo = new ProcessBuilder("cat").start();
        try (var brake = new Brake(echo.toHandle())) {
            long from = System.nanoTime();
            brake.hold(HELD);
            assertTrue(System.nanoTime() - from >= HELD.toNanos(), "it was not held for long enough");
            try (var out = echo.outputWriter();
                    BufferedReader in = echo.inputReader()) {
                out.write("on\n");
                out.flush();
                assertTrue("on".equals(in.readLine()), "it does not resume");
            }
            assertTrue(echo.waitFor(Duration.ofSeconds(20)));
            brake.hold(HELD); // has no effect on a process that has ended
        } finally {
            echo.destroyForcibly();
        }
        assertFalse(echo.isAlive());
    }
}
