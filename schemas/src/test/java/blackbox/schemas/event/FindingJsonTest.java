package blackbox.schemas.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import blackbox.schemas.Seeded;
import blackbox.schemas.event.FindingDetail.CaptureFailed;
import blackbox.schemas.event.FindingDetail.ClockSetBack;
import blackbox.schemas.event.FindingDetail.GuestStreamBroken;
import blackbox.schemas.event.FindingDetail.LimitReached;
import blackbox.schemas.event.FindingDetail.SequenceRepeated;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FindingJsonTest {

    private static final RandomGenerator RANDOM = Seeded.random("FindingJsonTest");

    @Test
    void allFindingsAreReadAndWrittenAsInTheGoldenFile() throws IOException {
        var unseen = EnumSet.allOf(Finding.class);
        for (String line : golden()) {
            int space = line.indexOf(' ');
            Finding finding = Finding.valueOf(space < 0 ? line : line.substring(0, space));
            String json = space < 0 ? null : line.substring(space + 1);
            FindingDetail detail = FindingJson.read(finding, json);
            assertNotNull(detail, line);
            assertEquals(finding, detail.finding());
            assertEquals(json, FindingJson.write(detail));
            unseen.remove(finding);
        }
        assertEquals(EnumSet.noneOf(Finding.class), unseen);
    }

    private static List<String> golden() throws IOException {
        try (InputStream file = FindingJsonTest.class.getResourceAsStream("/finding/v1/details.txt")) {
            byte[] octets = Objects.requireNonNull(file).readAllBytes();
            return new String(octets, StandardCharsets.UTF_8).lines().toList();
        }
    }

    @Test
    void whatMustBeEscapedIsReadAsItWasWritten() {
        for (int i = 0; i < 2_000; i++) {
            var text = new StringBuilder();
            for (int length = RANDOM.nextInt(12); length > 0; length--) {
                text.append((char) (RANDOM.nextBoolean() ? RANDOM.nextInt(0x80) : RANDOM.nextInt(0x10000)));
            }
            var reached = new LimitReached(text.toString(), RANDOM.nextLong());
            assertEquals(reached, read(Finding.LIMIT_REACHED, FindingJson.write(reached)));
        }
        assertEquals(
                "{\"where\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001F/\u007f\u00e9\"}",
                FindingJson.write(new CaptureFailed("\"\\\b\f\n\r\t\0\u001f/\u007f\u00e9")));
    }

    @Test
    void otherWritersJsonMeansTheSame() {
        assertEquals(new ClockSetBack(5), read(Finding.CLOCK_SET_BACK, " { \"byNs\" : 5 ,\n\"more\":\"later\" } "));
        assertEquals(new ClockSetBack(6), read(Finding.CLOCK_SET_BACK, "{\"byNs\":5,\"byNs\":6}"));
        assertEquals(new SequenceRepeated(2, 1), read(Finding.SEQUENCE_REPEATED, "{\"seq\":1,\"cpu\":2}"));
        assertEquals(
                new GuestStreamBroken("a/b\u00e9"), read(Finding.GUEST_STREAM_BROKEN, "{\"reason\":\"a\\/b\\u00E9\"}"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "{}",
                "null",
                "5",
                "[]",
                "{\"byNs\"}",
                "{\"byNs\":}",
                "{\"byNs\":5",
                "{\"byNs\":5,}",
                "{\"byNs\":5}}",
                "{\"byNs\":5}x",
                "{\"byNs\":\"5\"}",
                "{\"byNs\":05}",
                "{\"byNs\":-0}",
                "{\"byNs\":+5}",
                "{\"byNs\":5.0}",
                "{\"byNs\":5e0}",
                "{\"byNs\":9223372036854775808}",
                "{\"byNs\":null}",
                "{\"byNs\":{\"byNs\":5}}",
                "{byNs:5}",
                "{\"a\":\"\\u12\",\"byNs\":5}",
                "{\"a\":\"\\u00zz\",\"byNs\":5}",
                "{\"a\":\"\\x\",\"byNs\":5}",
                "{\"a\":\"\\",
                "{\"a\":\"\n\",\"byNs\":5}"
            })
    void whatIsNotThatDetailIsNotGuessed(String json) {
        assertNull(read(Finding.CLOCK_SET_BACK, json));
    }

    @Test
    void cutsAndNoiseNeverThrow() throws IOException {
        for (String line : golden()) {
            Finding finding = Finding.valueOf(line.split(" ", 2)[0]);
            for (int end = 0; end < line.length(); end++) {
                String cut = line.substring(Math.min(end, finding.name().length()), end);
                FindingDetail unused = read(finding, cut);
            }
            for (int i = 0; i < 500; i++) {
                var noise = new String(Seeded.octets(RANDOM, 40), StandardCharsets.ISO_8859_1);
                FindingDetail unused = read(finding, RANDOM.nextBoolean() ? noise : "{\"limit\":\"" + noise);
            }
        }
        assertNull(read(Finding.LIMIT_REACHED, null));
        assertNull(read(Finding.LIMIT_REACHED, "{\"limit\":\"memory\"}"));
    }

    private static @Nullable FindingDetail read(Finding finding, @Nullable String json) {
        return FindingJson.read(finding, json);
    }
}
