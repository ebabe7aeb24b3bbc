package blackbox.replay.content;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.request.Difference;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// A time stands for another one where both are from when their sides wrote them, and nowhere else.
class ContentMatchTest {
    private static final Instant RECORDED = Instant.parse("2026-11-25T12:11:37.250Z");
    private static final Instant ACTUAL = Instant.parse("2026-11-27T08:05:59.750Z");
    private static final Origins ORIGINS = new Origins(_ -> at(RECORDED), _ -> at(ACTUAL));
    /// Of the comparison's own buffer.
    private static final int CHUNK = 1 << 16;

    private static Window at(Instant moment) {
        long ns = Duration.between(Instant.EPOCH, moment).toNanos();
        return new Window(ns, ns);
    }

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static ContentMatch match(byte[] recorded, byte[] actual) throws IOException {
        return ContentMatch.of(new ByteArrayInputStream(recorded), new ByteArrayInputStream(actual), ORIGINS);
    }

    private static ContentMatch match(String recorded, String actual) throws IOException {
        return match(octets(recorded), octets(actual));
    }

    private static void assertStandsFor(String recorded, String actual) throws IOException {
        for (String around :
                new String[] {"%s", "%s\n", "built at %s, and so on", "%s.", "[%s]", "a=%s b=%s", "%s %s %s"}) {
            String a = around.replace("%s", recorded);
            String b = around.replace("%s", actual);
            ContentMatch match = match(a, b);
            assertNull(match.difference(), () -> a + " | " + b + ": " + match);
            int times = around.split("%s", -1).length - 1;
            assertEquals(times, match.times().count());
            assertEquals(
                    new Tie(a.indexOf(recorded), recorded, b.indexOf(actual), actual),
                    match.times().first().getFirst());
            assertNotNull(match(b, a).difference(), "each side has its own time");
            assertNotNull(match(b, b.replace(actual, recorded)).difference());
        }
        assertEquals(
                new ContentMatch(null, Ties.NONE, Ties.NONE), match(recorded, recorded), "equal ones need no window");
    }

    private static void assertDiffers(String recorded, String actual) throws IOException {
        ContentMatch match = match(recorded, actual);
        assertNotNull(match.difference(), () -> recorded + " | " + actual + ": " + match);
        assertEquals(0, match.times().count());
        int octet = Arrays.mismatch(octets(recorded), octets(actual));
        assertEquals(octet, match.firstDifference());
        assertEquals(octet, match.difference().actual());
    }

    @Test
    void aTimeOfEachFormStandsForAnother() throws Exception {
        assertStandsFor("2026-11-25T12:11:37Z", "2026-11-27T08:05:59Z");
        assertStandsFor("2026-11-25T12:11:37.25Z", "2026-11-27T08:05:59.750123Z");
        assertStandsFor("2026-11-25T13:11:37+01:00", "2026-11-27T09:05:59+01:00");
        assertStandsFor("2026-11-25 12:11:37", "2026-11-27 08:05:59");
        assertStandsFor("2026-11-25 12:11:37.250000000 +0000", "2026-11-27 08:05:59.750000000 +0000");
        assertStandsFor("2026-11-25 12:11", "2026-11-27 08:05");
        assertStandsFor("20261125T121137Z", "20261127T080559Z");
        assertStandsFor("20261125121137", "20261127080559");
        assertStandsFor("20261125-121137", "20261127-080559");
        assertStandsFor("Wed Nov 25 12:11:37 UTC 2026", "Fri Nov 27 08:05:59 UTC 2026");
        assertStandsFor("Wed Nov 25 12:11:37 PM UTC 2026", "Fri Nov 27 08:05:59 AM UTC 2026");
        assertStandsFor("Wed Nov 25 12:11:37 2026", "Fri Nov 27 08:05:59 2026");
        assertStandsFor("Wed Nov 25 12:11:37 2026 +0000", "Fri Nov 27 08:05:59 2026 +0000");
        assertStandsFor("Wed, 25 Nov 2026 12:11:37 GMT", "Fri, 27 Nov 2026 08:05:59 GMT");
        assertStandsFor("Nov 25 12:11:37", "Nov 27 08:05:59");
        assertStandsFor("Nov 25 12:11", "Nov 27 08:05");
        assertStandsFor("12:11:37", "08:05:59");
        assertStandsFor("12:11:37.25", "08:05:59.75");
        String recorded = "" + RECORDED.getEpochSecond();
        String actual = "" + ACTUAL.getEpochSecond();
        assertStandsFor(recorded, actual);
        assertStandsFor(recorded + ".25", actual + ".7501");
        assertStandsFor(recorded + "250", actual + "750");
        assertStandsFor(recorded + "250123", actual + "750123");
        assertStandsFor(recorded + "250123456", actual + "750123456");
    }

    @Test
    void withoutOriginsNoTimeStandsForAnother() throws Exception {
        ContentMatch match = ContentMatch.of(
                new ByteArrayInputStream(octets("at 12:11:37")), new ByteArrayInputStream(octets("at 08:05:59")));
        assertEquals(3, match.firstDifference());
        assertEquals(Ties.NONE, match.times());
    }

    @Test
    void aWrongTimeIsADifference() throws Exception {
        String right = "2026-11-25T12:11:37Z";
        for (String wrong : new String[] {
            "2026-11-27T08:06:02Z",
            "2026-11-27T08:05:57Z",
            "2026-11-27T09:05:59Z",
            "2026-11-27T07:05:59Z",
            "2026-11-26T08:05:59Z",
            "2025-11-27T08:05:59Z",
            "2027-11-27T08:05:59Z",
            "2026-11-25T12:11:38Z",
        }) {
            assertDiffers(right, wrong);
        }
        assertStandsFor(right, "2026-11-27T08:05:58Z");
        assertStandsFor(right, "2026-11-27T08:06:00Z");
        for (String wrong : new String[] {"08:06:02", "08:05:57", "09:05:59", "08:05:59 PM"}) {
            assertDiffers("12:11:37", wrong);
        }
        assertDiffers("1795608697", "1795766755");
        assertDiffers("1795608697", "1795766762");
        assertDiffers("Nov 25 12:11", "Nov 27 08:03");
        assertDiffers("Nov 25 12:11", "Nov 27 08:07");
        assertDiffers("Nov 25 12:11", "Nov 28 08:05");
        assertDiffers("Wed Nov 25 12:11:37 2026", "Thu Nov 27 08:05:59 2026");
    }

    /// On the recorded side, too.
    @Test
    void aWrongRecordedTimeIsADifference() throws Exception {
        String right = "2026-11-27T08:05:59Z";
        for (String wrong : new String[] {"2026-11-25T12:11:35Z", "2026-11-25T12:11:40Z", "2025-11-25T12:11:37Z"}) {
            assertDiffers(wrong, right);
        }
    }

    @Test
    void anotherFormOrZoneIsADifference() throws Exception {
        assertDiffers("2026-11-25T12:11:37Z", "2026-11-27 08:05:59Z");
        assertDiffers("2026-11-25T12:11:37Z", "2026-11-27T08:05:59");
        assertDiffers("2026-11-25T12:11:37Z", "2026-11-27T08:05:59+00:00");
        assertDiffers("2026-11-25T12:11:37+00:00", "2026-11-27T09:05:59+01:00");
        assertDiffers("2026-11-25T12:11:37+01:00", "2026-11-27T08:05:59+01:00");
        assertDiffers("12:11:37", "1795766759");
        assertDiffers("12:11:37", "12:11");
        assertDiffers("12:11:37 PM", "08:05:59");
        assertDiffers("1795608697", "1795766759750");
        assertDiffers("Wed Nov 25 12:11:37 UTC 2026", "Fri Nov 27 08:05:59 CET 2026".replace("08", "09"));
        assertDiffers("Wed Nov 25 12:11:37 2026", "Fri Nov 27 08:05:59 2026 +0000");
    }

    /// A part that is right does not mend the whole.
    @Test
    void ofTimesWithinTimesTheOutermostCounts() throws Exception {
        assertDiffers("1999-11-25 12:11:37", "1999-11-25 08:05:59");
        assertDiffers("2026-02-30 12:11:37", "2026-02-30 08:05:59");
        assertDiffers("Fri Nov 25 12:11:37 2026", "Fri Nov 25 08:05:59 2026");
        assertDiffers("Wed Nov 25 12:11:37 2026 +0700", "Wed Nov 25 08:05:59 2026 +0700");
    }

    @Test
    void whatOnlyLooksLikeATimeIsADifference() throws Exception {
        assertDiffers("took 00:00:12", "took 00:00:13");
        assertDiffers("id 1234567890", "id 1234567891");
        assertDiffers("x12:11:37", "x08:05:59");
        assertDiffers("v1.1795608697", "v1.1795766759");
        assertDiffers("1795608697ms", "1795766759ms");
        assertDiffers("52:54:12:11:37:aa", "52:54:08:05:59:aa");
        assertDiffers("-1795608697", "-1795766759");
        assertDiffers("2026-11-25 12:11:37,42", "2026-11-25 12:11:37,43");
    }

    @Test
    void whatFollowsATimeMustBeEqualAgain() throws Exception {
        ContentMatch match = match("12:11:37.25: one", "08:05:59.75012: two");
        var difference = Objects.requireNonNull(match.difference());
        assertEquals(13, difference.recorded());
        assertEquals(16, difference.actual());
        assertEquals(new Difference(13, 0, "12:11:37.25: one", "05:59.75012: two"), difference.octets());
        assertEquals(1, match.times().count());
        for (String[] each :
                new String[][] {{"12:11:37", "08:05:59 "}, {"12:11:37 ", "08:05:59"}, {"12:11:37 a", "08:05:59"}}) {
            ContentMatch more = match(each[0], each[1]);
            assertEquals(1, more.times().count());
            assertEquals(8, more.firstDifference());
        }
    }

    @Test
    void onlyTheFirstThreeAreShown() throws Exception {
        ContentMatch match = match("12:11:37\n".repeat(1_000), "08:05:59\n".repeat(1_000));
        assertNull(match.difference());
        assertEquals(1_000, match.times().count());
        assertEquals(Ties.SHOWN_MAX, match.times().first().size());
        assertEquals(18, match.times().first().getLast().actualAt());
    }

    /// Both windows are asked for the time's first octet and its last, in ascending order.
    @Test
    void theWindowIsThatOfTheTimesOwnOctets() throws Exception {
        String recorded = "12:11:37 12:11:37 12:12:37";
        String actual = "08:05:59 08:05:59 08:06:59";
        List<Long> asked = new ArrayList<>();
        WrittenWhen later = octet -> {
            asked.add(octet);
            return at(octet < 18 ? RECORDED : RECORDED.plusSeconds(60));
        };
        WrittenWhen actualLater = octet -> at(octet < 18 ? ACTUAL : ACTUAL.plusSeconds(60));
        ContentMatch match = ContentMatch.of(
                new ByteArrayInputStream(octets(recorded)),
                new ByteArrayInputStream(octets(actual)),
                new Origins(later, actualLater));
        assertNull(match.difference());
        assertEquals(List.of(0L, 7L, 9L, 16L, 18L, 25L), asked);
        assertEquals(
                18,
                match(recorded, actual).firstDifference(),
                "the third is a minute after the window of all of them here");
    }

    /// Of two pieces that share a time either may be its own.
    @Test
    void aTimeAcrossTwoPiecesMayBeFromEither() throws Exception {
        WrittenWhen pieces = octet -> at(octet < 4 ? ACTUAL.minusSeconds(30) : ACTUAL);
        for (String time : new String[] {"08:05:29", "08:05:45", "08:05:59"}) {
            assertNull(ContentMatch.of(
                            new ByteArrayInputStream(octets("12:11:37")),
                            new ByteArrayInputStream(octets(time)),
                            new Origins(ORIGINS.recorded(), pieces))
                    .difference());
        }
    }

    /// A time may begin and end anywhere in the buffers, and the streams may be apart by any number of octets.
    @Test
    void theBuffersEdgesDoNotCount() throws Exception {
        String recorded = "2026-11-25T12:11:37.25Z";
        String actual = "2026-11-27T08:05:59.75012Z";
        var random = new Random(4);
        var filler = new byte[3 * CHUNK];
        random.nextBytes(filler);
        for (int around : new int[] {CHUNK - 128, CHUNK, CHUNK + 128, CHUNK + 384, 2 * CHUNK, 2 * CHUNK + 512}) {
            for (int at = around - 40; at <= around + 40; at++) {
                filler[at - 1] = ' ';
                filler[at] = '\n';
                byte[] a = joined(Arrays.copyOf(filler, at), recorded, Arrays.copyOfRange(filler, at, filler.length));
                byte[] b = joined(Arrays.copyOf(filler, at), actual, Arrays.copyOfRange(filler, at, filler.length));
                ContentMatch match = match(a, b);
                assertNull(match.difference());
                assertEquals(
                        List.of(new Tie(at, recorded, at, actual)),
                        match.times().first());
                b[b.length - 1] ^= 1;
                ContentDifference difference =
                        Objects.requireNonNull(match(a, b).difference());
                assertEquals(a.length - 1, difference.recorded());
                assertEquals(b.length - 1, difference.actual());
            }
        }
    }

    private static byte[] joined(byte[] before, String text, byte[] after) {
        byte[] middle = octets(text);
        byte[] all = Arrays.copyOf(before, before.length + middle.length + after.length);
        System.arraycopy(middle, 0, all, before.length, middle.length);
        System.arraycopy(after, 0, all, before.length + middle.length, after.length);
        return all;
    }

    /// The places drift apart by more than what is read ahead.
    @Test
    void manyTimesOfOtherLengthsAreNotTooMany() throws Exception {
        String line = " and what was done then, in some words\n";
        ContentMatch match = match(("12:11:37.2" + line).repeat(20_000), ("08:05:59.750123456" + line).repeat(20_000));
        assertNull(match.difference());
        assertEquals(20_000, match.times().count());
        ContentMatch longer = match(("12:11:37.2" + line).repeat(20_000), ("08:05:59.750123456" + line).repeat(20_001));
        assertEquals(20_000L * (10 + line.length()), longer.firstDifference());
        assertEquals(
                20_000L * (18 + line.length()),
                Objects.requireNonNull(longer.difference()).actual());
    }

    @Test
    void hostileContentIsComparedLikeAnyOther() throws Exception {
        byte[] digits = octets("1".repeat(1 << 20));
        byte[] other = digits.clone();
        other[700_000] = '2';
        assertEquals(700_000, match(digits, other).firstDifference());
        byte[] longFraction = octets("12:11:37." + "1".repeat(1 << 20));
        byte[] otherFraction = longFraction.clone();
        otherFraction[7]++;
        assertEquals(7, match(longFraction, otherFraction).firstDifference());
        for (String half :
                new String[] {"12:11:3", "12:11:", "2026-11-25T", "Wed Nov 25 1", "179560869", "12:11:37."}) {
            String text = "x " + half;
            for (int i = 2; i < text.length(); i++) {
                byte[] changed = octets(text);
                changed[i] ^= 1;
                ContentMatch match = match(octets(text), changed);
                assertNotNull(match.difference(), text);
                assertNotNull(match(text, text.substring(0, i)).difference(), text);
            }
        }
        byte[] binary = {(byte) 0xff, '1', '2', ':', '1', '1', ':', '3', '7', (byte) 0xfe};
        byte[] binaryOther = {(byte) 0xff, '0', '8', ':', '0', '5', ':', '5', '9', (byte) 0xfe};
        assertEquals(1, match(binary, binaryOther).firstDifference());
        binary[0] = binaryOther[0] = 0;
        binary[9] = binaryOther[9] = 1;
        assertNull(match(binary, binaryOther).difference());
    }

    @Test
    void equalOnesHaveNoTimesThatStandForOthers() throws Exception {
        var random = new Random(5);
        for (int length : new int[] {0, 1, 127, 128, CHUNK - 1, CHUNK, CHUNK + 384, CHUNK + 385, 3 * CHUNK}) {
            var octets = new byte[length];
            for (int i = 0; i < length; i++) {
                octets[i] = (byte) ("0123456789:-T. Z\n".charAt(random.nextInt(17)));
            }
            assertEquals(new ContentMatch(null, Ties.NONE, Ties.NONE), match(octets, octets.clone()));
            if (length > 0) {
                byte[] shorter = Arrays.copyOf(octets, length - 1);
                assertEquals(length - 1L, match(octets, shorter).firstDifference());
                assertEquals(length - 1L, match(shorter, octets).firstDifference());
            }
        }
    }

    @Test
    void howTheOctetsComeDoesNotMatter() throws Exception {
        InputStream slow = new FilterInputStream(new ByteArrayInputStream(octets("one 12:11:37 two ".repeat(10_000)))) {
            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                return super.read(into, offset, Math.min(length, 7));
            }
        };
        ContentMatch match =
                ContentMatch.of(slow, new ByteArrayInputStream(octets("one 08:05:59 two ".repeat(10_000))), ORIGINS);
        assertNull(match.difference());
        assertEquals(10_000, match.times().count());
        assertTrue(slow.read() < 0);
    }
}
