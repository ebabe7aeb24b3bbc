package blackbox.evidence.parquet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestEvents;
import blackbox.evidence.TestRun;
import blackbox.evidence.parquet.ThriftTree.Value;
import blackbox.evidence.storage.LocalStore;
import blackbox.schemas.batch.LeafCursor;
import blackbox.schemas.batch.SealedBatch;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.LeafCodec;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventFileReaderTest {

    @TempDir
    Path folder;

    /// DuckDB writes, we read, and every leaf comes back byte for byte.
    @ParameterizedTest
    @ValueSource(
            strings = {
                "PARQUET_VERSION v1",
                "PARQUET_VERSION v2",
                "PARQUET_VERSION v2, ROW_GROUP_SIZE 2048",
                "PARQUET_VERSION v2, DICTIONARY_SIZE_LIMIT 1"
            })
    void everyLeafComesBack(String options) throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder), 600);
        Path file = run.table(0, run.batches.size(), options);
        var buffer = new byte[LeafCodec.BYTES_MAX];
        long index = 0;
        try (EventFileReader reader = EventFileReader.open(file, run.run)) {
            for (SealedBatch batch : run.batches) {
                LeafCursor leaves = batch.leaves();
                while (leaves.next()) {
                    assertEquals(true, reader.next());
                    assertEquals(index++, reader.index());
                    byte[] expected =
                            Arrays.copyOfRange(leaves.array(), leaves.offset(), leaves.offset() + leaves.length());
                    assertArrayEquals(expected, leaf(reader, buffer), "leaf " + reader.index());
                }
                assertEquals(batch.checkpoint(), String.valueOf(assertNotNullText(reader.checkpoint())));
            }
            assertEquals(false, reader.next());
            assertEquals(index, reader.rows());
        }
    }

    /// A reader of some columns shows these as one of all does, and no others.
    @Test
    void someColumnsComeAlone() throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder), 600);
        Path file = run.table(0, run.batches.size(), "PARQUET_VERSION v2, ROW_GROUP_SIZE 2048");
        Set<Column> wanted = EnumSet.of(Column.KIND, Column.AT_NS, Column.WHAT, Column.ARGV);
        var seen = EnumSet.noneOf(Column.class);
        try (EventFileReader all = EventFileReader.open(file, run.run);
                EventFileReader some = EventFileReader.open(LocalStore.file(file), run.run, wanted)) {
            while (all.next()) {
                assertTrue(some.next());
                assertEquals(all.index(), some.index());
                assertEquals(String.valueOf(all.raw()), String.valueOf(some.raw()));
                for (Column column : Column.values()) {
                    boolean there = wanted.contains(column) && all.row().has(column);
                    assertEquals(there, some.row().has(column), column.name());
                    if (there) {
                        seen.add(column);
                        assertEquals(value(all.row(), column), value(some.row(), column));
                    }
                }
            }
            assertFalse(some.next());
        }
        assertEquals(wanted, seen);
    }

    private static Object value(Row row, Column column) {
        return switch (column.type()) {
            case INT, LONG -> row.number(column);
            case STRING, BYTES -> row.text(column).toString();
            case STRING_LIST -> row.list(column).stream().map(Text::toString).toList();
        };
    }

    /// An engine would believe it and skip rows; checking it would take its hash function.
    @Test
    void aBloomFilterIsRefused() throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder), 600);
        Path file = run.table(0, run.batches.size(), "PARQUET_VERSION v2, WRITE_BLOOM_FILTER true");
        var refusal = assertThrows(MalformedParquetException.class, () -> EventFileReader.open(file, run.run));
        assertTrue(String.valueOf(refusal.getMessage()).contains("Bloom filter"));
    }

    /// A page of 20 octets that says it has 2^30 lists, all missing: as arrays 8 GiB.
    @Test
    void aPageThatSaysItHasMoreThanFitsIsNotRead() throws Exception {
        TestRun run = TestEvents.smallBuild(new TestRun(folder), 10);
        Path file = run.table(0, run.batches.size(), "PARQUET_VERSION v2");
        long lists = 1 << 30;
        byte[] levels = {(byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, 8, 0}; // a run of 2^30 zeros
        Value data = Value.struct()
                .with(1, Value.i32(lists))
                .with(2, Value.i32(lists))
                .with(3, Value.i32(lists))
                .with(4, Value.i32(0))
                .with(5, Value.i32(levels.length))
                .with(6, Value.i32(levels.length));
        var page = new ByteArrayOutputStream();
        page.writeBytes(ThriftTree.octets(Value.struct()
                .with(1, Value.i32(PageHeader.DATA_V2))
                .with(2, Value.i32(2L * levels.length))
                .with(3, Value.i32(2L * levels.length))
                .with(8, data)));
        page.writeBytes(levels);
        page.writeBytes(levels);
        ForgedFooter.replaceChunk(file, "argv", page.toByteArray(), lists);
        try (EventFileReader reader = EventFileReader.open(file, run.run)) {
            var refused = assertThrows(IOException.class, () -> {
                while (reader.next()) {}
            });
            assertTrue(String.valueOf(refused.getMessage()).contains("512 MiB of memory"), refused.getMessage());
        }
    }

    private static Text assertNotNullText(@org.jspecify.annotations.Nullable Text text) {
        assertNotNull(text);
        return text;
    }

    private static byte[] leaf(EventFileReader reader, byte[] buffer) {
        Text raw = reader.raw();
        if (raw != null) {
            return raw.toBytes();
        }
        Row row = reader.row();
        return Arrays.copyOf(buffer, LeafCodec.encode(row, buffer, 0));
    }
}
