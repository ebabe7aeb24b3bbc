package blackbox.schemas.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PcapReaderTest {

    @Test
    void readsPcapInBothByteOrdersAndRefusesOtherStreams() throws IOException {
        for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
            ByteBuffer stream = ByteBuffer.allocate(24 + 16 + 3 + 7).order(order);
            stream.putInt(0xa1b2c3d4)
                    .putInt(0)
                    .putInt(0)
                    .putInt(0)
                    .putInt(65535)
                    .putInt(1);
            stream.putInt(1).putInt(2).putInt(3).putInt(3).put(new byte[] {1, 2, 3});
            var frames = new ArrayList<byte[]>();
            readAll(stream.array(), frames);
            assertEquals(1, frames.size(), "the record that is cut off is no frame");
            assertEquals(3, frames.getFirst().length);
            stream.putInt(24 + 8, 1 << 30);
            assertThrows(IOException.class, () -> readAll(stream.array(), frames));
        }
        assertThrows(IOException.class, () -> readAll(new byte[40], new ArrayList<>()));
    }

    @Test
    void framesKnowWhenTheyWereSeenAndWhereTheyAre() throws IOException {
        ByteBuffer stream = ByteBuffer.allocate(24 + 2 * (16 + 2)).order(ByteOrder.LITTLE_ENDIAN);
        stream.putInt(0xa1b2c3d4).put(new byte[16]).putInt(1);
        for (int i = 0; i < 2; i++) {
            stream.putInt(-1).putInt(7 + i).putInt(2).putInt(9).put(new byte[] {4, (byte) i});
        }
        try (var pcap = new PcapReader(new ByteArrayInputStream(stream.array()))) {
            for (int i = 0; i < 2; i++) {
                PcapReader.Frame frame = pcap.next();
                assertNotNull(frame);
                assertEquals(0xffff_ffffL * 1_000_000 + 7 + i, frame.micros());
                assertEquals(24 + 16 + i * 18, frame.offset());
                assertArrayEquals(new byte[] {4, (byte) i}, frame.octets());
            }
            assertNull(pcap.next());
            assertNull(pcap.next());
        }
    }

    private static void readAll(byte[] stream, List<byte[]> frames) throws IOException {
        try (var pcap = new PcapReader(new ByteArrayInputStream(stream))) {
            for (PcapReader.Frame frame = pcap.next(); frame != null; frame = pcap.next()) {
                frames.add(frame.octets());
            }
        }
    }
}
