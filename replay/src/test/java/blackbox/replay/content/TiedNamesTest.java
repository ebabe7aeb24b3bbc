package blackbox.replay.content;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// A name that a program made up may stand for the one that it made up for the same thing on the other side.
final class TiedNamesTest {

    private static final Map<String, String> PAIRS =
            Map.of("tmp.SFk2Ngz", "tmp.aB3", "xQ1", "yW2", "n".repeat(120), "m".repeat(120), "a".repeat(200), "b");

    private static ContentMatch match(String recorded, String actual) throws IOException {
        return ContentMatch.of(
                in(recorded),
                in(actual),
                new Origins(WrittenWhen.UNKNOWN, WrittenWhen.UNKNOWN, (name, other) -> other.equals(PAIRS.get(name))));
    }

    private static ByteArrayInputStream in(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static void assertTied(String recorded, String actual, int count) throws IOException {
        ContentMatch match = match(recorded, actual);
        assertNull(match.difference(), match::toString);
        assertEquals(count, match.names().count());
    }

    @Test
    void itMayStandAnywhere() throws IOException {
        assertTied("tmp.SFk2Ngz", "tmp.aB3", 1);
        assertTied("/tmp/tmp.SFk2Ngz/log\n", "/tmp/tmp.aB3/log\n", 1);
        assertTied("made tmp.SFk2Ngz. And \"xQ1\".", "made tmp.aB3. And \"yW2\".", 2);
        assertTied("xQ1 xQ1\nxQ1", "yW2 yW2\nyW2", 3);
        assertTied("n".repeat(120) + "!", "m".repeat(120) + "!", 1);
        assertTied("a".repeat(200) + " ", "b ", 1);
        String long1 = "=".repeat(65_530);
        assertTied(long1 + "tmp.SFk2Ngz" + long1 + "xQ1", long1 + "tmp.aB3" + long1 + "yW2", 2);
    }

    @Test
    void anotherNameIsADifference() throws IOException {
        assertEquals(9, match("/tmp/tmp.SFk2Ngz", "/tmp/tmp.aB4").firstDifference());
        assertEquals(9, match("/tmp/tmp.SFk2Ngz", "/tmp/tmp.yW2").firstDifference());
        assertEquals(0, match("xQ1", "tmp.aB3").firstDifference());
        // Only as a whole word.
        assertEquals(1, match("zxQ1", "zyW2").firstDifference());
        assertEquals(0, match("xQ1z", "yW2z").firstDifference());
        assertEquals(3, match("xQ1", "yW2 ").firstDifference());
    }

    @Test
    void oneThatMayBeginBeforeWhatIsKeptIsCompared() throws IOException {
        String before = "c".repeat(300);
        assertEquals(300, match(before + "xQ1", before + "yW2").firstDifference());
    }

    @Test
    void whatIsTheSameIsNotTied() throws IOException {
        assertTied("tmp.SFk2Ngz", "tmp.SFk2Ngz", 0);
    }
}
