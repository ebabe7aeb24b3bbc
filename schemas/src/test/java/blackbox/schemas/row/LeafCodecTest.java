package blackbox.schemas.row;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.schemas.Seeded;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class LeafCodecTest {

    @Test
    void anyRowComesBackFromItsLeaf() {
        RandomGenerator random = Seeded.random("anyRowComesBackFromItsLeaf");
        for (int i = 0; i < 2_000; i++) {
            Row row = randomRow(random);
            byte[] leaf = encode(row);
            var decoded = new Row();
            assertTrue(LeafCodec.decode(leaf, 0, leaf.length, decoded));
            assertEquals(row.presentMask(), decoded.presentMask());
            assertArrayEquals(leaf, encode(decoded));
        }
    }

    @Test
    void whatDecodesIsCanonical() {
        RandomGenerator random = Seeded.random("whatDecodesIsCanonical");
        var decoded = new Row();
        int accepted = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] leaf = encode(randomRow(random));
            leaf[random.nextInt(leaf.length)] ^= (byte) (1 << random.nextInt(8));
            if (LeafCodec.decode(leaf, 0, leaf.length, decoded)) {
                accepted++;
                assertArrayEquals(leaf, encode(decoded), "two leaves for one row");
            }
        }
        assertTrue(accepted > 0, "flipped values must decode to other rows");
    }

    @Test
    void refusesWhatIsNotCanonical() {
        for (String hex : List.of("", "02", "010000", "01018000", "0102020102", "013f02", "01400", "0110050102")) {
            byte[] leaf = hex.length() % 2 == 0 ? HexFormat.of().parseHex(hex) : new byte[] {1, 64, 0};
            assertFalse(LeafCodec.decode(leaf, 0, leaf.length, new Row()), hex);
        }
    }

    @Test
    void goldenLeaf() {
        Row row = new Row()
                .set(Column.KIND, 10)
                .set(Column.AT_NS, 1_700_000_000_000_000_000L)
                .set(Column.SOURCE, 1)
                .set(Column.PATH, "/etc/hosts")
                .set(Column.RET, -2)
                .set(Column.ARGV, List.of(Text.of("ls"), Text.of("")));
        assertEquals(
                "010114028080d0e2c6bfce972f03020d02026c7300100a2f6574632f686f7374731203",
                HexFormat.of().formatHex(encode(row)));
    }

    static byte[] encode(Row row) {
        var leaf = new byte[LeafCodec.size(row)];
        assertEquals(leaf.length, LeafCodec.encode(row, leaf, 0));
        return leaf;
    }

    private static Row randomRow(RandomGenerator random) {
        var row = new Row();
        for (Column column : Column.values()) {
            if (random.nextInt(3) > 0) {
                continue;
            }
            switch (column.type()) {
                case INT -> row.set(column, random.nextInt() >> random.nextInt(32));
                case LONG -> row.set(column, random.nextLong() >> random.nextInt(64));
                case STRING, BYTES -> {
                    byte[] octets = Seeded.octets(random, 300);
                    row.set(column, octets, 0, octets.length);
                }
                case STRING_LIST -> {
                    var elements = new ArrayList<Text>();
                    for (int n = random.nextInt(5); n > 0; n--) {
                        byte[] octets = Seeded.octets(random, 200);
                        elements.add(Text.copyOf(octets, 0, octets.length));
                    }
                    row.set(column, elements);
                }
            }
        }
        return row;
    }
}
