package blackbox.vm.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.vm.machine.ClockDrift;
import org.junit.jupiter.api.Test;

/// The figures about a clock's offsets.
class ClockOffsetsTest {

    @Test
    void theLargestKeepsItsSignAndPercentilesDoNot() {
        var offsets = new ClockOffsets();
        for (int i = 1; i <= 98; i++) {
            offsets.add(i % 2 == 0 ? 2_500_000 : -2_500_000);
        }
        offsets.add(400_000_000);
        offsets.add(-25_000_000_123L);
        offsets.forward(7);
        offsets.forward(8);
        offsets.held(9);
        assertEquals(new ClockDrift(100, -25_000_000_123L, 3_000_000, 401_000_000, 15, 9), offsets.drift());
    }

    @Test
    void withoutReadingsThereAreNoFigures() {
        assertEquals(new ClockDrift(0, 0, 0, 0, 0, 0), new ClockOffsets().drift());
    }

    @Test
    void noPercentileExceedsTheLargest() {
        var offsets = new ClockOffsets();
        offsets.add(300_000);
        offsets.add(-400_000);
        assertEquals(new ClockDrift(2, -400_000, 400_000, 400_000, 0, 0), offsets.drift());
    }
}
