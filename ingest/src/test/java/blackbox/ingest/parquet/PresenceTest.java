package blackbox.ingest.parquet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Random;
import org.apache.parquet.column.values.rle.RunLengthBitPackingHybridDecoder;
import org.junit.jupiter.api.Test;

/// Levels are read back by Parquet's own decoder.
final class PresenceTest {

    private static final long SEED = 4_711;

    @Test
    void parquetReadsTheSameLevels() throws IOException {
        var random = new Random(SEED);
        for (int round = 0; round < 500; round++) {
            int rows = 1 + random.nextInt(3_000);
            int run = 1 + random.nextInt(200);
            var presence = new Presence();
            var expected = new boolean[rows];
            boolean value = random.nextBoolean();
            for (int row = 0; row < rows; row++) {
                value ^= random.nextInt(run) == 0;
                expected[row] = value;
                if (value) {
                    presence.set(row);
                }
            }
            int from = random.nextInt(rows / 8 + 1) * 8;
            assertLevels(presence, expected, Math.min(from, rows - 1) & ~7, rows);
        }
    }

    private static void assertLevels(Presence presence, boolean[] expected, int from, int to) throws IOException {
        var levels = new Octets();
        presence.putLevels(levels, from, to);
        var decoder =
                new RunLengthBitPackingHybridDecoder(1, new ByteArrayInputStream(levels.array(), 0, levels.size()));
        int count = 0;
        for (int row = from; row < to; row++) {
            assertEquals(expected[row] ? 1 : 0, decoder.readInt(), "row " + row + ", seed " + SEED);
            count += expected[row] ? 1 : 0;
        }
        assertEquals(count, presence.count(from, to));
    }

    @Test
    void longRunsAreShort() {
        var presence = new Presence();
        for (int row = 1_000; row < 30_000; row++) {
            presence.set(row);
        }
        var levels = new Octets();
        presence.putLevels(levels, 0, 32_768);
        assertTrue(levels.size() < 20, levels.size() + " octets");
    }
}
