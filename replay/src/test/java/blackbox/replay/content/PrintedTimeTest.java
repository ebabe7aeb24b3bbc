package blackbox.replay.content;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// What is read as a time, of which form, and which times it may mean.
class PrintedTimeTest {
    private static final Instant NOON = Instant.parse("2026-11-25T12:11:37Z");

    private static @Nullable PrintedTime read(String before, String text) {
        byte[] octets = (before + text).getBytes(StandardCharsets.UTF_8);
        return PrintedTime.at(octets, before.getBytes(StandardCharsets.UTF_8).length, octets.length);
    }

    private static PrintedTime time(String text) {
        return Objects.requireNonNull(read("", text), text);
    }

    private static long ns(Instant at) {
        return Duration.between(Instant.EPOCH, at).toNanos();
    }

    private static Window at(Instant moment) {
        return new Window(ns(moment), ns(moment));
    }

    /// The whole text is a time of this form, and of this moment and no other.
    private static void assertTime(TimeForm form, String text, Instant moment) {
        PrintedTime time = time(text);
        assertEquals(form, time.form(), text);
        assertEquals(text.length(), time.length(), text);
        assertTrue(time.isIn(at(moment)), text);
        Duration unit = Duration.ofNanos(time.unitNs());
        assertTrue(time.isIn(at(moment.plus(unit).plusMillis(999))), text);
        assertFalse(time.isIn(at(moment.plus(unit).plusSeconds(1))), text);
        assertTrue(time.isIn(at(moment.minusSeconds(1))), text);
        assertFalse(time.isIn(at(moment.minusSeconds(1).minusNanos(1))), text);
        assertFalse(time.isIn(at(moment.plus(unit).plusSeconds(3_600))), text);
        assertFalse(time.isIn(at(moment.minusSeconds(3_600))), text);
        // In the middle of a longer text it is the same one.
        PrintedTime within = Objects.requireNonNull(read("at (", text + ") it was"), text);
        assertEquals(time, within);
    }

    @Test
    void everyFormIsReadAsWhatItMeans() {
        Instant half = NOON.plusMillis(500);
        Instant minute = Instant.parse("2026-11-25T12:11:00Z");
        assertTime(TimeForm.ISO, "2026-11-25T12:11:37Z", NOON);
        assertTime(TimeForm.ISO, "2026-11-25T12:11:37", NOON);
        assertTime(TimeForm.ISO, "2026-11-25T12:11:37.5Z", half);
        assertTime(TimeForm.ISO, "2026-11-25T12:11:37.500000000000000000001Z", half);
        assertTime(TimeForm.ISO, "2026-11-25T14:11:37+02:00", NOON);
        assertTime(TimeForm.ISO, "2026-11-25T07:41:37.500-0430", half);
        assertTime(TimeForm.ISO, "2026-11-26T01:11:37+13", NOON);
        assertTime(TimeForm.ISO_SPACE, "2026-11-25 12:11:37", NOON);
        assertTime(TimeForm.ISO_SPACE, "2026-11-25 12:11:37.500000000 +0000", half);
        assertTime(TimeForm.ISO_SPACE, "2026-11-25 13:11:37 +01:00", NOON);
        assertTime(TimeForm.ISO_SPACE, "2026-11-25 12:11:37 UTC", NOON);
        assertTime(TimeForm.ISO_SPACE, "2026-11-25 12:11:37 PM", NOON);
        assertTime(TimeForm.ISO_MINUTES, "2026-11-25T12:11", minute);
        assertTime(TimeForm.ISO_MINUTES, "2026-11-25T12:11Z", minute);
        assertTime(TimeForm.ISO_SPACE_MINUTES, "2026-11-25 12:11", minute);
        assertTime(TimeForm.ISO_SPACE_MINUTES, "2026-11-25 14:11 +0200", minute);
        assertTime(TimeForm.COMPACT_T, "20261125T121137Z", NOON);
        assertTime(TimeForm.COMPACT_T, "20261125T121137", NOON);
        assertTime(TimeForm.COMPACT, "20261125121137", NOON);
        assertTime(TimeForm.COMPACT_HYPHEN, "20261125-121137", NOON);
        assertTime(TimeForm.COMPACT_UNDERSCORE, "20261125_121137", NOON);
        assertTime(TimeForm.NAME_UNDERSCORE, "2026-11-25T12_11_37_500Z", half);
        assertTime(TimeForm.NAME_UNDERSCORE, "2026-11-25T12_11_37", NOON);
        assertTime(TimeForm.NAME_HYPHEN, "2026-11-25T12-11-37-500Z", half);
        assertTime(TimeForm.NAME_HYPHEN, "2026-11-25T12-11-37Z", NOON);
        assertTime(TimeForm.NAME_UNDERSCORE_HYPHEN, "2026-11-25_12-11-37", NOON);
        assertTime(TimeForm.NAME_HYPHENS, "2026-11-25-12-11-37", NOON);
        assertTime(TimeForm.DATE, "Wed Nov 25 12:11:37 UTC 2026", NOON);
        assertTime(TimeForm.DATE, "Wed Nov 25 12:11:37 PM UTC 2026", NOON);
        assertTime(TimeForm.CTIME, "Wed Nov 25 12:11:37 2026", NOON);
        assertTime(TimeForm.GIT, "Wed Nov 25 12:11:37 2026 +0000", NOON);
        assertTime(TimeForm.GIT, "Wed Nov 25 06:11:37 2026 -0600", NOON);
        assertTime(TimeForm.RFC_5322, "Wed, 25 Nov 2026 12:11:37 GMT", NOON);
        assertTime(TimeForm.RFC_5322, "Wed, 25 Nov 2026 13:11:37 +0100", NOON);
        assertTime(TimeForm.RFC_5322_NO_WEEKDAY, "25 Nov 2026 12:11:37 +0000", NOON);
        assertTime(TimeForm.SYSLOG, "Nov 25 12:11:37", NOON);
        assertTime(TimeForm.SYSLOG, "Nov 25 12:11:37.500000", half);
        assertTime(TimeForm.LS, "Nov 25 12:11", minute);
        assertTime(TimeForm.CLOCK, "12:11:37", NOON);
        assertTime(TimeForm.CLOCK, "12:11:37.5", half);
        assertTime(TimeForm.CLOCK, "12:11:37 PM", NOON);
        assertTime(TimeForm.CLOCK, "12:11:37Z", NOON);
        long seconds = NOON.getEpochSecond();
        assertTime(TimeForm.UNIX_SECONDS, "" + seconds, NOON);
        assertTime(TimeForm.UNIX_SECONDS_FRACTION, seconds + ".5", half);
        assertTime(TimeForm.UNIX_SECONDS_FRACTION, seconds + ".500000000", half);
        assertTime(TimeForm.UNIX_MILLISECONDS, seconds + "500", half);
        assertTime(TimeForm.UNIX_MICROSECONDS, seconds + "500000", half);
        assertTime(TimeForm.UNIX_NANOSECONDS, seconds + "500000000", half);
    }

    /// This test fails when a form is added and not tried.
    @Test
    void everyFormIsTriedHere() {
        Set<TimeForm> seen = new HashSet<>();
        for (String text : new String[] {
            "2026-11-25T12:11:37Z",
            "2026-11-25 12:11:37",
            "2026-11-25T12:11",
            "2026-11-25 12:11",
            "20261125T121137Z",
            "20261125121137",
            "20261125-121137",
            "20261125_121137",
            "2026-11-25T12_11_37_123Z",
            "2026-11-25T12-11-37-123Z",
            "2026-11-25_12-11-37",
            "2026-11-25-12-11-37",
            "Wed Nov 25 12:11:37 UTC 2026",
            "Wed Nov 25 12:11:37 2026",
            "Wed Nov 25 12:11:37 2026 +0000",
            "Wed, 25 Nov 2026 12:11:37 GMT",
            "25 Nov 2026 12:11:37 GMT",
            "Nov 25 12:11:37",
            "Nov 25 12:11",
            "12:11:37",
            "1764072697",
            "1764072697.1",
            "1764072697123",
            "1764072697123456",
            "1764072697123456789"
        }) {
            seen.add(time(text).form());
        }
        assertEquals(Set.of(TimeForm.values()), seen);
    }

    @Test
    void daysBelowTenAreReadInAllThreeWays() {
        Instant fifth = Instant.parse("2026-11-05T12:11:37Z");
        assertTime(TimeForm.CTIME, "Thu Nov  5 12:11:37 2026", fifth);
        assertTime(TimeForm.GIT, "Thu Nov 5 12:11:37 2026 +0000", fifth);
        assertTime(TimeForm.SYSLOG, "Nov  5 12:11:37", fifth);
        assertTime(TimeForm.SYSLOG, "Nov 05 12:11:37", fifth);
        assertTime(TimeForm.RFC_5322, "Thu, 5 Nov 2026 12:11:37 GMT", fifth);
        assertTime(TimeForm.RFC_5322_NO_WEEKDAY, "5 Nov 2026 12:11:37 GMT", fifth);
    }

    @Test
    void hoursToTwelve() {
        assertTime(TimeForm.CLOCK, "12:11:37 AM", Instant.parse("2026-11-25T00:11:37Z"));
        assertTime(TimeForm.CLOCK, "01:11:37 AM", Instant.parse("2026-11-25T01:11:37Z"));
        assertTime(TimeForm.CLOCK, "11:11:37 PM", Instant.parse("2026-11-25T23:11:37Z"));
        assertEquals("12:11:37".length(), time("12:11:37 AMONG OTHERS").length());
        for (String none : new String[] {"13:11:37 PM", "00:11:37 AM"}) {
            assertFalse(time(none).isIn(new Window(0, Long.MAX_VALUE)), none);
        }
    }

    @Test
    void whatIsPartOfALongerWordOrNumberIsNoTime() {
        for (String[] each : new String[][] {
            {"x", "12:11:37"},
            {"1", "12:11:37"},
            {"1:", "12:11:37"},
            {"1.", "12:11:37"},
            {"é", "12:11:37"},
            {"", "12:11:37x"},
            {"", "12:11:37é"},
            {"", "12:11:37:01"},
            {"", "12:11:37:ab"},
            {"", "12:11:37.5.1"},
            {"", "12:11:37-7"},
            {"", "12:11:371"},
            {"-", "1764072697"},
            {" +", "1764072697"},
            {"3.", "1764072697"},
            {"", "17640726970"},
            {"", "176407269"},
            {"", "1764072697s"},
            {"", "1764072697.1.2"},
            {"", "20261125121137000"},
            {"", "2026-11-25"},
            {"", "26-11-25 12:11:37"},
            {"", "2026-11-25T12:61:37Z"},
            {"", "2026-11-25T25:11:37Z"},
            {"", "2026-11-25T12:11:60Z"},
            {"", "2026-11-25T12:11:37Zulu"},
            {"", "2026-11-25T12:1"},
            {"", "Nov 25 12:11:37s"},
            {"", "nov 25 12:11:37"},
            {"x", "Nov 25 12:11:37"},
            {"", "Nov 255 12:11:37"},
            {"", "Noon"},
            {"", "Wed"},
            {"", ""},
        }) {
            PrintedTime time = read(each[0], each[1]);
            boolean isNone = time == null || time.length() < each[1].length() && time.form() == TimeForm.COMPACT;
            assertTrue(isNone, () -> each[0] + "|" + each[1] + " is " + time);
        }
    }

    @Test
    void wordsThatEndBeforeAreNoReason() {
        for (String before : new String[] {"at ", "(", "[", "\"", "=", "a-", "1-", "a:", "a.", "_", "/", ","}) {
            assertNotNull(read(before, "12:11:37"), before);
            assertNotNull(read(before, "1764072697"), before);
        }
        for (String after : new String[] {".", ". ", ",", ")", ":", ": x", "-", "_", ".log", "\n", ":abc"}) {
            assertEquals(8, time("12:11:37" + after).length(), after);
            assertEquals(10, time("1764072697" + after).length(), after);
        }
    }

    /// They are in the form of a time, so that no part of them is one; but of no clock's.
    @Test
    void whatNoClockShowsIsInNoWindow() {
        var all = new Window(0, Long.MAX_VALUE);
        for (String text : new String[] {
            "2026-02-30T12:11:37Z",
            "2026-13-01T12:11:37Z",
            "2026-00-01T12:11:37Z",
            "2026-01-00T12:11:37Z",
            "0001-11-25T12:11:37Z",
            "9999-11-25T12:11:37Z",
            "20261325121137",
            "Thu Nov 25 12:11:37 2026",
            "Thu Nov 25 12:11:37 UTC 2026",
            "Feb 29 12:11:37",
            "9999999999999999999",
            "9999999999",
        }) {
            assertFalse(time(text).isIn(text.startsWith("Feb") ? at(NOON) : all), text);
        }
        assertTrue(time("2028-02-29T12:11:37Z").isIn(at(Instant.parse("2028-02-29T12:11:37Z"))));
        assertTrue(time("Feb 29 12:11:37").isIn(at(Instant.parse("2028-02-29T12:11:37Z"))));
        assertNull(read("", "Feb 30 12"));
    }

    @Test
    void commaFractionsAreThoseOfPythonsLogging() {
        assertTime(TimeForm.ISO_SPACE, "2026-11-25 12:11:37", NOON);
        assertEquals(23, time("2026-11-25 12:11:37,500 INFO").length());
        assertEquals(19, time("2026-11-25 12:11:37,500").length());
        assertEquals(19, time("2026-11-25 12:11:37,500,1").length());
        assertEquals(19, time("2026-11-25 12:11:37,5001 x").length());
        assertEquals(8, time("12:11:37,500 x").length());
    }

    @Test
    void aFractionMayBeLongAndATimeNotLongerThanItsLimit() {
        String longest = "12:11:37." + "1".repeat(PrintedTime.OCTETS_MAX - 9);
        assertEquals(PrintedTime.OCTETS_MAX, time(longest).length());
        assertNull(read("", longest + "1"));
        assertNull(read("", longest + "1".repeat(1_000)));
    }

    @Test
    void aDayOrAYearIsNotNamedWhereTheWindowHoldsThemAll() {
        long start = ns(NOON);
        Duration day = Duration.ofDays(1);
        assertTrue(time("12:00:00").isIn(new Window(start - Duration.ofHours(20).toNanos(), start)));
        assertFalse(time("12:00:00").isIn(new Window(start - day.toNanos(), start)));
        assertTrue(time("Nov 25 12:00:00").isIn(new Window(start - day.toNanos(), start)));
        assertFalse(time("Nov 25 12:00:00").isIn(new Window(start - day.toNanos() * 366, start)));
        assertTrue(time("2026-11-25 12:00:00").isIn(new Window(0, Long.MAX_VALUE)));
        assertTrue(time("2026-11-25 12:00:00").isIn(new Window(Long.MIN_VALUE, Long.MAX_VALUE)));
    }

    /// Around midnight, and around the end of a year.
    @Test
    void windowsMayGoAcrossADayOrAYear() {
        Instant midnight = Instant.parse("2027-01-01T00:00:00Z");
        var window = new Window(ns(midnight.minusSeconds(10)), ns(midnight.plusSeconds(10)));
        for (String in : new String[] {
            "23:59:51", "00:00:09", "23:59:49", "00:00:11", "Dec 31 23:59:51", "Jan  1 00:00:09", "Dec 31 23:59"
        }) {
            assertTrue(time(in).isIn(window), in);
        }
        for (String out : new String[] {"23:59:47", "00:00:12", "Jan  1 23:59:51", "Dec 31 00:00:09", "Dec 31 23:58"}) {
            assertFalse(time(out).isIn(window), out);
        }
        assertTrue(time("01:30:00+01:30").isIn(window));
        assertTrue(time("22:30:00-01:30").isIn(window));
    }

    private static boolean alike(String a, String b) {
        return time(a).isLike(time(b)) && time(b).isLike(time(a));
    }

    @Test
    void alikeIsWhatOneProgramPrints() {
        assertTrue(alike("12:11:37.12", "12:11:37.123456"), "without zeros at the end");
        assertTrue(alike("12:11:37", "12:11:37.123456"));
        assertTrue(alike("12:11:37.120", "12:11:37.123456"), "in groups");
        assertTrue(alike("12:11:37.100000", "12:11:37.123456"));
        assertFalse(alike("12:11:37.10", "12:11:37.123456"));
        assertFalse(alike("12:11:37.1000", "12:11:37.12"));
        assertTrue(alike("1764072697.0", "1764072697.12"));
        assertFalse(alike("1764072697", "1764072697.12"));
        assertTrue(alike("Nov  5 12:11", "Nov 15 12:11"));
        assertTrue(alike("Nov 5 12:11", "Nov 15 12:11"));
        assertTrue(alike("Nov 05 12:11", "Nov 15 12:11"));
        assertFalse(alike("Nov  5 12:11", "Nov 5 12:11"));
        assertFalse(alike("Nov  5 12:11", "Nov 06 12:11"));
        assertTrue(alike("12:11:37 AM", "12:11:37 PM"));
        assertFalse(alike("12:11:37", "12:11:37 PM"));
        for (String[] zones : new String[][] {
            {"Z", ""},
            {"Z", "+00:00"},
            {"+00:00", "+0000"},
            {"+00:00", "-00:00"},
            {"+01:00", "+02:00"},
            {"+01", "+01:00"}
        }) {
            assertFalse(alike("2026-11-25T12:11:37" + zones[0], "2026-11-25T12:11:37" + zones[1]), zones[0]);
        }
        assertFalse(alike("2026-11-25T12:11:37 UTC", "2026-11-25T12:11:37 GMT"));
        assertFalse(alike("2026-11-25T12:11:37", "2026-11-25 12:11:37"));
        assertFalse(alike("2026-11-25 12:11:37.123 x", "2026-11-25 12:11:37,123 x"));
    }
}
