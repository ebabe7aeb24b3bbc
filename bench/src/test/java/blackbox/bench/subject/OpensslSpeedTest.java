package blackbox.bench.subject;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class OpensslSpeedTest {
    @Test
    void readsOpensslsFigure() throws IOException {
        String output = "+DT:sha256:1:191\n+R:2298246:sha256:1.000000\n+H:191\n+F:25:sha256:438964986.00\n";
        assertEquals(438964986.0, OpensslSpeed.bytesPerSecond(output));
    }
}
