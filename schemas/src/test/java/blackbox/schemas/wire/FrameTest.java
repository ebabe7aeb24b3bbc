package blackbox.schemas.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class FrameTest {

    @Test
    void theMomentIsThatOfTheWholeFrame() {
        ByteBuffer octets = ByteBuffer.allocate(Frame.HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        octets.putInt(Frame.MAGIC)
                .putShort((short) Frame.VERSION)
                .putShort((short) 3)
                .putInt(Frame.HEADER_BYTES);
        octets.putLong(16, 1_234_567_890_123L).putLong(24, 9_876_543_210L);
        Frame whole = Frame.parse(octets.array(), 0, Frame.HEADER_BYTES);
        assertNotNull(whole);
        assertEquals(new Frame.Moment(whole.cpuSeq(), whole.ktimeNs()), Frame.moment(octets.array()));
        assertNull(Frame.moment(Arrays.copyOf(octets.array(), Frame.HEADER_BYTES - 1)));
        octets.putInt(0, 1);
        assertNull(Frame.moment(octets.array()));
    }
}
