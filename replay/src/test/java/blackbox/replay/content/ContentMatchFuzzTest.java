package blackbox.replay.content;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// The comparison finds what a slow one finds that was written another way.
class ContentMatchFuzzTest {

    private static final String[] PATTERNS = {
        "yyyy-MM-dd'T'HH:mm:ss'Z'",
        "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
        "yyyy-MM-dd'T'HH:mm:ss",
        "yyyy-MM-dd HH:mm:ss.SSSSSS",
        "yyyy-MM-dd HH:mm:ss,SSS",
        "yyyy-MM-dd HH:mm:ss Z",
        "yyyy-MM-dd HH:mm:ss z",
        "yyyy-MM-dd HH:mm",
        "yyyy-MM-dd'T'HH:mmXXX",
        "yyyyMMdd'T'HHmmss'Z'",
        "yyyyMMddHHmmss",
        "yyyyMMdd-HHmmss",
        "yyyyMMdd_HHmmss",
        "EEE MMM ppd HH:mm:ss z yyyy",
        "EEE MMM ppd hh:mm:ss a z yyyy",
        "EEE MMM ppd HH:mm:ss yyyy",
        "EEE MMM d HH:mm:ss yyyy Z",
        "EEE, d MMM yyyy HH:mm:ss Z",
        "EEE, dd MMM yyyy HH:mm:ss 'GMT'",
        "d MMM yyyy HH:mm:ss Z",
        "MMM ppd HH:mm:ss",
        "MMM dd HH:mm:ss",
        "MMM ppd HH:mm",
        "HH:mm:ss",
        "HH:mm:ss.n",
        "hh:mm:ss a",
        "HH:mm:ss.SSSSSSSSS",
        "yyyy-MM-dd",
        "HH:mm",
    };

    private static final String[] BETWEEN = {
        " ", "\n", ", ", ".", ":", "-", "+", "_", "x", "7", " 7", "\"", "é", " at ", ": ", ".5", "-1 ", " UTC",
        " +0000", " 2026", " PM", "Z", " Nov ", "Wed ", "12:", ":ab", ",500 ", "\0", "T", "0"
    };

    private record Sides(String recorded, String actual) {}

    private static Sides texts(Random random, Window recorded, Window actual) {
        var a = new StringBuilder();
        var b = new StringBuilder();
        for (int i = random.nextInt(12); i >= 0; i--) {
            String between = random.nextInt(6) == 0
                    ? "some equal text ".repeat(random.nextInt(20))
                    : BETWEEN[random.nextInt(BETWEEN.length)];
            a.append(between);
            b.append(random.nextInt(100) == 0 ? "another text" : between);
            int form = random.nextInt(PATTERNS.length + 5);
            a.append(time(random, form, recorded));
            b.append(time(random, random.nextInt(60) == 0 ? random.nextInt(PATTERNS.length + 5) : form, actual));
            a.append(random.nextInt(3) == 0 ? "" : " ");
            b.append(a.charAt(a.length() - 1) == ' ' ? " " : "");
        }
        return new Sides(a.toString(), b.toString());
    }

    /// Mostly of the window, and sometimes not.
    private static String time(Random random, int form, Window window) {
        long ns = window.fromNs() + random.nextLong(window.toNs() - window.fromNs() + 1);
        ns += switch (random.nextInt(80)) {
            case 0 -> 2_000_000_000L;
            case 1 -> -2_000_000_000L;
            case 2 -> 3_600_000_000_000L;
            case 3 -> -31_536_000_000_000_000L;
            case 4, 5, 6 -> random.nextLong(2_400_000_000L) - 1_200_000_000L;
            default -> 0;
        };
        if (form >= PATTERNS.length) {
            int places = new int[] {0, 3, 6, 9, -1}[form - PATTERNS.length];
            long seconds = Math.floorDiv(ns, 1_000_000_000L);
            String nanos = "%09d".formatted(Math.floorMod(ns, 1_000_000_000L));
            return places < 0
                    ? seconds + "." + nanos.substring(0, 1 + random.nextInt(9))
                    : seconds + nanos.substring(0, places);
        }
        ZoneId zone = random.nextInt(30) == 0 ? ZoneOffset.ofHours(2) : ZoneId.of("UTC");
        return DateTimeFormatter.ofPattern(PATTERNS[form], Locale.US)
                .format(Instant.EPOCH.plusNanos(ns).atZone(zone));
    }

    private static ContentMatch match(String recorded, String actual, Origins origins) throws IOException {
        return ContentMatch.of(
                new ByteArrayInputStream(recorded.getBytes(StandardCharsets.ISO_8859_1)),
                new ByteArrayInputStream(actual.getBytes(StandardCharsets.ISO_8859_1)),
                origins);
    }

    @Test
    void aSlowComparisonFindsTheSame() throws Exception {
        long seed = new Random().nextLong();
        var random = new Random(seed);
        long ties = 0;
        long equal = 0;
        String filler = "some equal text\n".repeat(4_090);
        for (int i = 0; i < 6_000; i++) {
            Instant start = Instant.ofEpochSecond(1_500_000_000L + random.nextInt(1_000_000_000));
            long recordedNs = start.getEpochSecond() * 1_000_000_000L + random.nextInt(1_000_000_000);
            long actualNs = recordedNs + random.nextLong(90L * 86_400_000_000_000L);
            var recorded = new Window(recordedNs, recordedNs + random.nextLong(3_000_000_000L));
            var actual = new Window(actualNs, actualNs + random.nextLong(3_000_000_000L));
            Sides sides = texts(random, recorded, actual);
            String before = i % 10 == 0 ? filler.substring(random.nextInt(300)) : "";
            String a = before + sides.recorded;
            String b = before + sides.actual;
            SlowMatch slow = SlowMatch.of(a, b, recorded, actual);
            ContentMatch match = match(a, b, new Origins(_ -> recorded, _ -> actual));
            String where = "seed " + seed + ", " + i + ": " + recorded + " <" + sides.recorded + "> " + actual + " <"
                    + sides.actual + ">";
            assertEquals(slow.times(), match.times().count(), where);
            ContentDifference difference = match.difference();
            assertEquals(slow.recorded(), difference == null ? -1 : difference.recorded(), where);
            assertEquals(slow.actual(), difference == null ? -1 : difference.actual(), where);
            ties += slow.times();
            equal += difference == null ? 1 : 0;
            assertEquals(
                    new ContentMatch(null, Ties.NONE, Ties.NONE), match(a, a, new Origins(_ -> recorded, _ -> actual)));
        }
        assertTrue(ties > 3_000 && equal > 300, ties + " times, " + equal + " equal");
    }
}
