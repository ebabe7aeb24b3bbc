package blackbox.replay.content;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StandInInputTest {
    private static String replaced(String all, String text, String standIn) throws IOException {
        try (var in = new StandInInput(
                new ByteArrayInputStream(all.getBytes(StandardCharsets.ISO_8859_1)),
                text.getBytes(StandardCharsets.ISO_8859_1),
                standIn.getBytes(StandardCharsets.ISO_8859_1))) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'', ab, x, ''",
        "ab, ab, x, x",
        "xabx, ab, '', xx",
        "aab, ab, ab, aab",
        "abab, ab, aba, abaaba",
        "aaa, aa, b, ba",
        "a, ab, x, a"
    })
    void standsWhereTheOtherWas(String all, String text, String standIn, String expected) throws IOException {
        assertEquals(expected, replaced(all, text, standIn));
    }

    @Test
    void whereverItIsInALongFile() throws IOException {
        var random = new Random(1);
        for (int each = 0; each < 200; each++) {
            var all = new StringBuilder();
            for (int length = random.nextInt(300_000); all.length() < length; ) {
                all.append((char) ('a' + random.nextInt(2)));
                if (random.nextInt(20_000) == 0) {
                    all.append("abbaabbaabbaabbaab");
                }
            }
            String text = "abbaabbaabbaabbaab".substring(0, 1 + random.nextInt(18));
            String standIn = "-".repeat(random.nextInt(40));
            assertEquals(all.toString().replace(text, standIn), replaced(all.toString(), text, standIn), text);
        }
    }
}
