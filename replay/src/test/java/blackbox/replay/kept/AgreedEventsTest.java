package blackbox.replay.kept;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.kept.AgreedEvents.Agreed;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgreedEventsTest {
    private static final long SEED = Long.getLong("blackbox.seed", 20261125);

    @TempDir
    Path folder;

    /// Events of which some have no frame, in an order that is not that of their frames' numbers.
    private record Events(long[] seqs) {
        EventCursor open(long from) {
            return new EventCursor() {
                private final Row row = new Row();
                private int at = (int) from - 1;

                @Override
                public boolean next() {
                    at++;
                    row.clear();
                    if (at < seqs.length && seqs[at] >= 0) {
                        row.set(Column.CPU_SEQ, seqs[at]);
                    }
                    return at < seqs.length;
                }

                @Override
                public long index() {
                    return at;
                }

                @Override
                public Row row() {
                    return row;
                }

                @Override
                public void close() {}
            };
        }
    }

    @Test
    void whatWasAgreedIsFoundAgain() throws IOException {
        var random = new Random(SEED);
        var seqs = new long[20_000];
        for (int i = 0; i < seqs.length; i++) {
            seqs[i] = random.nextInt(10) == 0 ? -1 : 5_000_000_000L + i + random.nextInt(-40, 40);
        }
        var collector = new AgreedEvents.Collector();
        collector.begin();
        collector.agree(3, 4); // an earlier attempt to align, which does not count
        collector.begin();
        var expected = new TreeMap<Long, Long>();
        for (int actual = 0, recorded = 7; actual < seqs.length; actual++, recorded += 1 + random.nextInt(3)) {
            collector.agree(recorded, actual);
            if (seqs[actual] >= 0) {
                expected.put((long) recorded, seqs[actual]);
            }
        }
        Path file = folder.resolve("agreed");
        assertEquals(expected.size(), collector.write(file, new Events(seqs)::open), "seed " + SEED);
        var agreed = new AgreedEvents(file);
        try (AgreedEvents.Cursor all = agreed.open()) {
            int count = 0;
            while (all.next() != null) {
                count++;
            }
            assertEquals(expected.size(), count);
        }
        for (int i = 0; i < 50; i++) {
            long index = random.nextLong(expected.lastKey() + 10);
            var at = expected.floorEntry(index);
            var from = expected.ceilingEntry(index);
            assertEquals(at == null ? null : new Agreed(at.getKey(), at.getValue()), agreed.at(index));
            try (AgreedEvents.Cursor cursor = agreed.open()) {
                Agreed found = from == null ? null : new Agreed(from.getKey(), from.getValue());
                assertEquals(found, cursor.skipTo(index));
                assertEquals(found, cursor.skipTo(index), "it stays");
            }
        }
        assertNull(agreed.at(6));
    }

    @Test
    void anotherFileIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("other"), "blackbox/agreed/v2\n\1\2");
        assertThrows(IOException.class, () -> new AgreedEvents(file).at(3));
        byte[] endless = new byte[60];
        Arrays.fill(endless, (byte) 0xff);
        System.arraycopy("blackbox/agreed/v1\n".getBytes(StandardCharsets.US_ASCII), 0, endless, 0, 19);
        Files.write(file, endless);
        assertThrows(IOException.class, () -> new AgreedEvents(file).at(3));
        Files.write(file, Arrays.copyOf(endless, 22));
        assertThrows(IOException.class, () -> new AgreedEvents(file).at(3));
    }
}
