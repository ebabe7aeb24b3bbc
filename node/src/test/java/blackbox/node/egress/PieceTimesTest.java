package blackbox.node.egress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PieceTimesTest {
    private static final long NEVER = -1;

    @Test
    void anOffsetHadPassedWithThePieceThatReachesIt() {
        var times = new PieceTimes();
        assertEquals(NEVER, times.passed(0, NEVER));
        times.add(10, 100);
        times.add(10, 110);
        times.add(25, 200);
        assertEquals(100, times.passed(1, NEVER));
        assertEquals(100, times.passed(10, NEVER));
        assertEquals(200, times.passed(11, NEVER));
        assertEquals(NEVER, times.passed(26, NEVER));
    }

    @Test
    void ofALongBodyTheTimeIsNeverTooEarlyAndHardlyTooLate() {
        var times = new PieceTimes();
        int pieces = 1_000_000;
        for (int each = 1; each <= pieces; each++) {
            times.add(each, each);
        }
        for (int offset = 1; offset <= pieces; offset += 997) {
            long passed = times.passed(offset, NEVER);
            assertTrue(passed >= offset && passed - offset <= pieces / 1000, offset + ": " + passed);
        }
    }
}
