package blackbox.replay.exact;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GuestClockTest {
    private final GuestClock clock = new GuestClock(2);

    /// A thousand instructions, idle for a second in two readings of three, two thousand, idle for 8 ns, a hundred.
    @BeforeEach
    void read() throws IOException {
        var octets = new ByteArrayOutputStream();
        var log = new DataOutputStream(octets);
        instructions(log, 1_000);
        hostClock(log, 5_000_000_000L);
        hostClock(log, 5_000_000_700L);
        log.write(36);
        hostClock(log, 6_000_000_000L);
        instructions(log, 500);
        log.write(2);
        instructions(log, 1_500);
        hostClock(log, 9);
        hostClock(log, 17);
        instructions(log, 100);
        assertEquals(
                3_100,
                LogExtent.read(new ByteArrayInputStream(octets.toByteArray()), clock)
                        .instructions());
    }

    private static void instructions(DataOutputStream log, int count) throws IOException {
        log.write(0);
        log.writeInt(count);
    }

    private static void hostClock(DataOutputStream log, long ns) throws IOException {
        log.write(29);
        log.writeLong(ns);
    }

    @Test
    void fourNanosecondsAreAnInstruction() {
        assertEquals(100, clock.after(0, 400));
        assertEquals(1_200, clock.after(1_100, 400));
        assertEquals(1_000, clock.after(1_100, -400));
        assertEquals(9_000, clock.after(3_050, 4 * 5_950));
    }

    @Test
    void idleTimeIsSkipped() {
        assertEquals(1_010, clock.after(990, 1_000_000_000 + 4 * 20));
        assertEquals(990, clock.after(1_010, -1_000_000_000 - 4 * 20));
        assertEquals(3_010, clock.after(990, 1_000_000_008 + 4 * 2_020));
    }

    @Test
    void whileItIsIdleTheNextInstructionIsTheAnswer() {
        assertEquals(1_000, clock.after(990, 500_000_000));
        assertEquals(3_000, clock.after(2_999, 8));
    }

    @Test
    void idleTimeAtAPositionIsBeforeItsInstruction() {
        assertEquals(1_001, clock.after(1_000, 4));
        assertEquals(999, clock.after(1_000, -1_000_000_004));
    }
}
