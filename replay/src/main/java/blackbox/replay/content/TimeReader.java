package blackbox.replay.content;

import blackbox.replay.content.PrintedTime.Padding;
import blackbox.replay.content.PrintedTime.Style;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// Reads a time of one form, once.
final class TimeReader {

    private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
    private static final String WEEKDAYS = "MonTueWedThuFriSatSun";
    /// Fields that there need not be.
    private static final String OPTIONAL = "fpxz";
    /// Digits of seconds since 1970, from 2001 to 2286.
    private static final int UNIX_DIGITS = 10;
    /// Digits of a fraction that count.
    private static final int NANO_DIGITS = 9;
    /// No zone is further from UTC.
    private static final int OFFSET_HOURS_MAX = 14;

    private final byte[] octets;
    private final int from;
    private final int end;
    private int at;

    private int year = -1;
    private int month = -1;
    private int day = -1;
    private int weekday = -1;
    private int hour = -1;
    private int minute;
    private int second = -1;
    private long unixNs = -1;
    private long unitNs;
    private long offsetNs;
    private String zone = "";
    private @Nullable Padding padding;
    private boolean halves;
    private boolean afternoon;
    private char point;
    private String fraction = "";

    TimeReader(byte[] octets, int from, int end) {
        this.octets = octets;
        this.from = from;
        this.at = from;
        this.end = end;
    }

    /// The time, or null if there is none of this form.
    @Nullable
    PrintedTime read(TimeForm form) {
        String pattern = form.pattern();
        for (int i = 0; i < pattern.length(); i++) {
            char field = pattern.charAt(i);
            if (!reads(field) && OPTIONAL.indexOf(field) < 0) {
                return null;
            }
        }
        char last = pattern.charAt(pattern.length() - 1);
        boolean clock = last == 'S' || last == 'f' || last == 'z' || last == 'M';
        if (!isEnd(at) || clock && zone.isEmpty() && isSigned(at)) {
            return null;
        }
        var style = new Style(zone, padding, halves, point, fraction);
        return new PrintedTime(form, at - from, style, shown(), unitNs());
    }

    private boolean reads(char field) {
        return switch (field) {
            case 'Y' -> (year = number(4)) >= 0;
            case 'n' -> (month = number(2)) >= 0;
            case 'd' -> (day = number(2)) >= 0;
            case 'e' -> readsDay();
            case 'b' -> (month = 1 + name(MONTHS)) > 0;
            case 'a' -> (weekday = 1 + name(WEEKDAYS)) > 0;
            case 'H' -> (hour = number(2)) >= 0 && hour < 24;
            case 'M' -> (minute = number(2)) >= 0 && minute < 60;
            case 'S' -> (second = number(2)) >= 0 && second < 60;
            case 'f', 'F' -> readsFraction();
            case 'x' -> readsMilliseconds();
            case 'p' -> readsHalf();
            case 'z' -> readsZone();
            case 'o' -> readsOffset(' ');
            case 'u' -> readsUtc();
            case 'Z' -> readsUtc() || readsOffset(' ');
            case '0' -> readsUnix(0);
            case '3' -> readsUnix(3);
            case '6' -> readsUnix(6);
            case '9' -> readsUnix(9);
            default -> readsLiteral(field);
        };
    }

    private boolean isAt(int place, char ascii) {
        return place < end && octets[place] == ascii;
    }

    private boolean isDigitAt(int place) {
        return place < end && PrintedTime.isDigit(octets[place]);
    }

    private boolean readsLiteral(char ascii) {
        boolean is = isAt(at, ascii);
        at += is ? 1 : 0;
        return is;
    }

    private boolean readsLiteral(String ascii) {
        for (int i = 0; i < ascii.length(); i++) {
            if (!isAt(at + i, ascii.charAt(i))) {
                return false;
            }
        }
        at += ascii.length();
        return true;
    }

    /// So many digits; -1 if there are fewer.
    private int number(int digits) {
        int value = 0;
        for (int i = 0; i < digits; i++) {
            if (!isDigitAt(at + i)) {
                return -1;
            }
            value = 10 * value + octets[at + i] - '0';
        }
        at += digits;
        return value;
    }

    /// Which of some names of three letters it is, from 0; -1 if it is none.
    private int name(String names) {
        for (int i = 0; i < names.length(); i += 3) {
            if (readsLiteral(names.substring(i, i + 3))) {
                return i / 3;
            }
        }
        return -1;
    }

    private boolean readsDay() {
        if (at > from && readsLiteral(' ')) {
            padding = Padding.SPACE;
            day = number(1);
        } else if (isDigitAt(at + 1)) {
            day = number(2);
            padding = day < 10 ? Padding.ZERO : null;
        } else {
            padding = Padding.NONE;
            day = number(1);
        }
        return day >= 0 && !isDigitAt(at);
    }

    /// After a comma only as Python's logging writes it: three digits, and a space. Otherwise it is more likely
    /// another value of a list.
    private boolean readsFraction() {
        int digits = at + 1;
        while (isDigitAt(digits)) {
            digits++;
        }
        int count = digits - at - 1;
        boolean comma = isAt(at, ',') && count == 3 && year >= 0 && isAt(digits, ' ');
        if (count == 0 || !isAt(at, '.') && !comma) {
            return false;
        }
        point = (char) octets[at];
        fraction = new String(octets, at + 1, count, StandardCharsets.ISO_8859_1);
        at = digits;
        return true;
    }

    private boolean readsMilliseconds() {
        char sign = (char) octets[at - 3];
        int digits = at + 1;
        while (isDigitAt(digits)) {
            digits++;
        }
        if (!isAt(at, sign) || digits - at - 1 != 3) {
            return false;
        }
        point = sign;
        fraction = new String(octets, at + 1, 3, StandardCharsets.ISO_8859_1);
        at = digits;
        return true;
    }

    private boolean readsHalf() {
        int before = at;
        afternoon = isAt(at + 1, 'P');
        halves = (readsLiteral(" AM") || readsLiteral(" PM")) && isEnd(at);
        at = halves ? at : before;
        return halves;
    }

    private boolean readsZone() {
        if (isAt(at, 'Z') && isEnd(at + 1)) {
            at++;
            zone = "Z";
            return true;
        }
        return readsOffset((char) 0) || readsOffset(' ') || readsUtc();
    }

    private boolean readsUtc() {
        int before = at;
        if ((readsLiteral(" UTC") || readsLiteral(" GMT")) && isEnd(at)) {
            zone = letters(before);
            return true;
        }
        at = before;
        return false;
    }

    /// `+hh:mm`, `+hhmm`, and, directly after the time, `+hh`.
    ///
    /// @param space what is before it; 0 for nothing
    private boolean readsOffset(char space) {
        int before = at;
        boolean begins = space == 0 || readsLiteral(space);
        boolean west = isAt(at, '-');
        if (begins && (readsLiteral('+') || readsLiteral('-'))) {
            int hours = number(2);
            int minutes = readsLiteral(':') || space != 0 || isDigitAt(at) ? number(2) : 0;
            if (hours >= 0 && hours <= OFFSET_HOURS_MAX && minutes >= 0 && minutes < 60 && isEnd(at)) {
                offsetNs = TimeUnit.MINUTES.toNanos(west ? -(60L * hours + minutes) : 60L * hours + minutes);
                zone = letters(before);
                return true;
            }
        }
        at = before;
        return false;
    }

    private boolean readsUnix(int places) {
        long value = 0;
        int digits = UNIX_DIGITS + places;
        for (int i = 0; i < digits; i++) {
            if (!isDigitAt(at + i)) {
                return false;
            }
            value = 10 * value + octets[at + i] - '0';
        }
        if (isDigitAt(at + digits)) {
            return false;
        }
        at += digits;
        unitNs = power(NANO_DIGITS - places);
        // 19 digits may not fit into 64 bits, and times after 2116 are of no run.
        unixNs = value < 0 || value > Long.MAX_VALUE / 2 / unitNs ? -1 : value * unitNs;
        return true;
    }

    private String letters(int begin) {
        return new String(octets, begin, at - begin, StandardCharsets.ISO_8859_1);
    }

    /// Whether a time can end before an octet: what follows is of no word, number or address.
    private boolean isEnd(int place) {
        if (place >= end) {
            return true;
        }
        if (PrintedTime.isOfWord(octets[place])) {
            return false;
        }
        return switch (octets[place]) {
            case '.' -> !isDigitAt(place + 1);
            case ':' -> !isDigitAt(place + 1) && !isHexAt(place + 1);
            default -> true;
        };
    }

    /// Whether there are two hex digits and no more, as in an address.
    private boolean isHexAt(int place) {
        return place + 1 < end
                && Character.digit(octets[place], 16) >= 0
                && Character.digit(octets[place + 1], 16) >= 0
                && (place + 2 >= end || !PrintedTime.isOfWord(octets[place + 2]));
    }

    /// What may be an offset, but is none that is known.
    private boolean isSigned(int place) {
        return (isAt(place, '+') || isAt(place, '-')) && isDigitAt(place + 1);
    }

    private long unitNs() {
        if (!fraction.isEmpty()) {
            return power(Math.max(0, NANO_DIGITS - fraction.length()));
        }
        if (unitNs > 0) {
            return unitNs;
        }
        return second < 0 ? TimeUnit.MINUTES.toNanos(1) : TimeUnit.SECONDS.toNanos(1);
    }

    private static long power(int exponent) {
        long value = 1;
        for (int i = 0; i < exponent; i++) {
            value *= 10;
        }
        return value;
    }

    private long fractionNs() {
        long ns = 0;
        for (int i = 0; i < NANO_DIGITS; i++) {
            ns = 10 * ns + (i < fraction.length() ? fraction.charAt(i) - '0' : 0);
        }
        return ns;
    }

    private ShownTime shown() {
        if (unitNs > 0) {
            return unixNs < 0 ? new ShownTime.Never() : new ShownTime.Once(unixNs + fractionNs());
        }
        if (halves && (hour == 0 || hour > 12)) {
            return new ShownTime.Never();
        }
        int hours = halves ? hour % 12 + (afternoon ? 12 : 0) : hour;
        long ns = TimeUnit.MINUTES.toNanos(60L * hours + minute)
                + TimeUnit.SECONDS.toNanos(Math.max(0, second))
                + fractionNs()
                - offsetNs;
        if (day < 0) {
            return new ShownTime.EachDay(ns);
        }
        if (year < 0) {
            return new ShownTime.EachYear(month, day, ns);
        }
        ShownTime shown = ShownTime.of(year, month, day, ns);
        boolean isOtherDay = weekday > 0
                && shown instanceof ShownTime.Once
                && LocalDate.of(year, month, day).getDayOfWeek().getValue() != weekday;
        return isOtherDay ? new ShownTime.Never() : shown;
    }
}
