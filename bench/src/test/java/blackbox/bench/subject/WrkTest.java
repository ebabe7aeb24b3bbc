package blackbox.bench.subject;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class WrkTest {
    @Test
    void readsWhatTheScriptPrints() throws IOException {
        String output = "Running 2s test\nRequests/sec: 3\nmeasured 2000000 6000 1200000 250 9000 0\n";
        Wrk.Load load = Wrk.read(output);
        assertEquals(3_000, load.requestsPerSecond());
        assertEquals(0.6, load.megabytesPerSecond());
        assertEquals(Duration.ofNanos(250_000), load.p50());
        assertEquals(Duration.ofMillis(9), load.p99());
    }

    @Test
    void requestsThatFailedAreNoMeasurement() {
        assertThrows(IOException.class, () -> Wrk.read("measured 2000000 6000 1200000 250 9000 1\n"));
        assertThrows(IOException.class, () -> Wrk.read("measured 2000000 0 0 0 0 0\n"));
        assertThrows(IOException.class, () -> Wrk.read("unable to connect\n"));
    }
}
