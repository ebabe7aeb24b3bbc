package blackbox.schemas.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import blackbox.schemas.Hash;
import blackbox.schemas.RunId;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import org.junit.jupiter.api.Test;

final class FileSealTest {

    private static final FileSeal SEAL = new FileSeal(
            new RunId("01jd8x3k9zq4v7w2m5n6p8r0st"),
            new DataFileName(5, 12, "00c0ffee"),
            7,
            4_321,
            Hash.sha256(new byte[0]));

    @Test
    void textIsTheVersionOneForm() {
        assertEquals("""
                blackbox/file/v1
                01jd8x3k9zq4v7w2m5n6p8r0st
                5
                12
                7
                4321
                e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
                0000000000000000005-0000000000000000012-00c0ffee.parquet
                """, SEAL.text());
        assertEquals(SEAL, FileSeal.parse(SEAL.text()));
    }

    @Test
    void noFlippedOctetParsesAsTheSameSeal() {
        byte[] octets = SEAL.text().getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < octets.length; i++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] flipped = octets.clone();
                flipped[i] ^= (byte) (1 << bit);
                FileSeal parsed = FileSeal.parse(new String(flipped, StandardCharsets.UTF_8));
                if (parsed != null) {
                    assertEquals(new String(flipped, StandardCharsets.UTF_8), parsed.text());
                }
            }
        }
    }

    @Test
    void refusesWhatDoesNotAddUp() {
        var file = new DataFileName(5, 12, "00c0ffee");
        assertThrows(IllegalArgumentException.class, () -> new FileSeal(SEAL.run(), file, 8, 1, Hash.ZERO));
        assertThrows(IllegalArgumentException.class, () -> new DataFileName(5, 5, "00c0ffee"));
        assertNull(FileSeal.parse(SEAL.text().replace("\n7\n", "\n07\n")));
        assertNull(FileSeal.parse(SEAL.text() + "more\n"));
        assertNull(DataFileName.parse("0000000000000000012-0000000000000000005-00c0ffee.parquet"));
        assertNotNull(DataFileName.parse(file.toString()));
    }

    @Test
    void fieldIdsAndNamesAreUnique() {
        var ids = new HashSet<Integer>();
        var names = new HashSet<String>();
        int expected = 0;
        for (TableColumn column : EventsTable.COLUMNS) {
            ids.add(column.fieldId());
            names.add(column.name());
            expected++;
            if (column.type() == TableType.STRING_LIST) {
                ids.add(column.elementFieldId());
                expected++;
            }
        }
        assertEquals(expected, ids.size());
        assertEquals(EventsTable.COLUMNS.size(), names.size());
    }
}
