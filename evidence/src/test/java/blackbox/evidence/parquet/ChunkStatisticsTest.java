package blackbox.evidence.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChunkStatisticsTest {

    private static ChunkStatistics parse(String fields) {
        byte[] octets = HexFormat.ofDelimiter(" ").parseHex("1c " + fields + " 00");
        var in = new CompactThrift(octets, 0, octets.length);
        assertEquals(1, in.field(0));
        return ChunkStatistics.parse(in);
    }

    private static void numbers(ChunkStatistics statistics, PhysicalType type, long... values) {
        statistics.requireWithin(type, values, values.length);
    }

    private static void text(ChunkStatistics statistics, String value) {
        byte[] octets = value.getBytes(UTF_8);
        statistics.requireWithin(octets, new int[] {0}, new int[] {octets.length}, 1);
    }

    private static void lies(Runnable check) {
        assertThrows(IllegalArgumentException.class, check::run);
    }

    /// Fields 5 and 6: at most 2, at least -1.
    @Test
    void numbersAreComparedWithTheirSign() {
        ChunkStatistics narrow = parse("58 04 02 00 00 00 18 04 ff ff ff ff");
        assertDoesNotThrow(() -> numbers(narrow, PhysicalType.INT32, -1, 0, 2));
        lies(() -> numbers(narrow, PhysicalType.INT32, 0, -2));
        lies(() -> numbers(narrow, PhysicalType.INT32, 0, 3));
        lies(() -> numbers(narrow, PhysicalType.INT64, 0));
        ChunkStatistics wide = parse("58 08 02 00 00 00 00 00 00 00 18 08 ff ff ff ff ff ff ff ff");
        assertDoesNotThrow(() -> numbers(wide, PhysicalType.INT64, -1, 2));
        lies(() -> numbers(wide, PhysicalType.INT64, -2));
        lies(() -> numbers(wide, PhysicalType.INT64, Long.MAX_VALUE));
    }

    /// At most "m", at least "b".
    @Test
    void octetsAreComparedWithoutSignAndCutBoundsAreBounds() {
        ChunkStatistics statistics = parse("58 01 6d 18 01 62");
        for (String inside : List.of("b", "bz", "lzzz", "m")) {
            assertDoesNotThrow(() -> text(statistics, inside));
        }
        for (String outside : List.of("", "a", "azzz", "ma", "n", "\u00e9")) {
            lies(() -> text(statistics, outside));
        }
    }

    /// Fields 1 and 2 are how bounds were stored once; engines still read them.
    @Test
    void theDeprecatedBoundsCountToo() {
        ChunkStatistics statistics = parse("18 01 6d 18 01 62 38 01 ff 18 00");
        assertDoesNotThrow(() -> text(statistics, "c"));
        lies(() -> text(statistics, "a"));
        lies(() -> text(statistics, "n"));
    }

    @Test
    void nullsAreCounted() {
        ChunkStatistics statistics = parse("36 0a");
        assertDoesNotThrow(() -> statistics.requireNulls(5));
        lies(() -> statistics.requireNulls(4));
        assertDoesNotThrow(() -> ChunkStatistics.NONE.requireNulls(4));
        lies(() -> parse("36 01"));
    }

    /// A reader that takes the first and an engine that takes the last would see different bounds.
    @Test
    void aFieldThatIsThereTwiceIsRefused() {
        lies(() -> parse("36 0a 06 06 0c"));
        lies(() -> parse("36 0a 06 04 0c"));
    }
}
