package blackbox.replay.content;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The rule of [ContentMatch] once more, with regular expressions over whole texts: an oracle for its tests.
///
/// @param recorded where the texts first differ, -1 if they do not
/// @param actual the same of the other text
record SlowMatch(long times, long recorded, long actual) {
    private static final String WORD = "[0-9A-Za-z\\x80-\\xff]";
    private static final String BEGIN = "(?<!" + WORD + ")";
    private static final String BEGIN_NUMBER = "(?<![0-9][.:])(?<!(?:^|[^0-9A-Za-z\\x80-\\xff])[-+])";
    private static final String END = "(?!" + WORD + ")(?!\\.[0-9])(?!:[0-9])(?!:[0-9A-Fa-f]{2}(?!" + WORD + "))";
    private static final String UNSIGNED = "(?![-+][0-9])";
    private static final String DATE = "(?<Y>\\d{4})-(?<n>\\d\\d)-(?<d>\\d\\d)";
    private static final String DAY = "(?<d> \\d|\\d\\d|\\d)(?!\\d)";
    private static final String MONTH = "(?<b>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
    private static final String WEEKDAY = "(?<a>Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
    private static final String MINUTES = "(?<H>[01]\\d|2[0-3]):(?<M>[0-5]\\d)";
    private static final String TIME = MINUTES + ":(?<S>[0-5]\\d)";
    private static final String FRACTION = "(?:(?<p>\\.)(?<f>\\d++))?";
    private static final String HALF = "(?:(?<h> [AP]M)" + END + ")?+";
    private static final String NUMBER = "(?:0\\d|1[0-4])";
    private static final String OFFSET = "[-+]" + NUMBER + "(?::?[0-5]\\d)?| [-+]" + NUMBER + ":?[0-5]\\d";
    private static final String ZONE = "(?:(?<z>Z|" + OFFSET + "| UTC| GMT)" + END + "|" + UNSIGNED + ")";
    private static final String YEAR = "(?<Y>\\d{4})";
    private static final String COMPACT_DATE = "(?<Y>\\d{4})(?<n>\\d\\d)(?<d>\\d\\d)";
    private static final String COMPACT_TIME = "(?<H>[01]\\d|2[0-3])(?<M>[0-5]\\d)(?<S>[0-5]\\d)";

    private static final List<Pattern> FORMS = List.of(
            number(DATE + "T" + TIME + "(?:(?<p>\\.)(?<f>\\d++)|(?<q>,)(?<g>\\d{3})(?= ))?" + ZONE),
            number(DATE + " " + TIME + "(?:(?<p>\\.)(?<f>\\d++)|(?<q>,)(?<g>\\d{3})(?= ))?" + HALF + ZONE),
            number(DATE + "T" + MINUTES + ZONE),
            number(DATE + " " + MINUTES + ZONE),
            number(COMPACT_DATE + "T" + COMPACT_TIME + ZONE),
            number(COMPACT_DATE + COMPACT_TIME + UNSIGNED),
            number(COMPACT_DATE + "-" + COMPACT_TIME + UNSIGNED),
            number(COMPACT_DATE + "_" + COMPACT_TIME + UNSIGNED),
            name(WEEKDAY + " " + MONTH + " " + DAY + " " + TIME + HALF + "(?<z> UTC| GMT) " + YEAR),
            name(WEEKDAY + " " + MONTH + " " + DAY + " " + TIME + " " + YEAR),
            name(WEEKDAY + " " + MONTH + " " + DAY + " " + TIME + " " + YEAR + "(?<z> [-+]" + NUMBER + ":?[0-5]\\d)"),
            name(WEEKDAY + ", " + DAY + " " + MONTH + " " + YEAR + " " + TIME + "(?<z> UTC| GMT| [-+]" + NUMBER
                    + ":?[0-5]\\d)" + END),
            number("(?! )" + DAY + " " + MONTH + " " + YEAR + " " + TIME + "(?<z> UTC| GMT| [-+]" + NUMBER
                    + ":?[0-5]\\d)" + END),
            name(MONTH + " " + DAY + " " + TIME + FRACTION + UNSIGNED),
            name(MONTH + " " + DAY + " " + MINUTES + UNSIGNED),
            number(TIME + FRACTION + HALF + ZONE),
            number("(?<s>\\d{10})"),
            number("(?<s>\\d{10})\\.(?<f>\\d++)"),
            number("(?<s>\\d{13})"),
            number("(?<s>\\d{16})"),
            number("(?<s>\\d{19})"));

    private static Pattern number(String form) {
        return Pattern.compile(BEGIN + BEGIN_NUMBER + "(?:" + form + ")" + END);
    }

    private static Pattern name(String form) {
        return Pattern.compile(BEGIN + "(?:" + form + ")" + END);
    }

    /// A match of one form.
    private record Found(int form, Matcher match) {
        int length() {
            return match.end() - match.start();
        }

        String group(String name) {
            String text = match.namedGroups().containsKey(name) ? match.group(name) : null;
            return text == null ? "" : text;
        }

        boolean isLike(Found other) {
            String point = group("p") + group("q");
            String otherPoint = other.group("p") + other.group("q");
            return form == other.form
                    && group("z").equals(other.group("z"))
                    && group("h").isEmpty() == other.group("h").isEmpty()
                    && (point.isEmpty() || otherPoint.isEmpty() || point.equals(otherPoint))
                    && (!hasName()
                            || padding().isEmpty()
                            || other.padding().isEmpty()
                            || padding().equals(other.padding()))
                    && areLike(group("f") + group("g"), other.group("f") + other.group("g"));
        }

        private boolean hasName() {
            return !group("b").isEmpty();
        }

        private static boolean areLike(String a, String b) {
            return a.length() == b.length()
                    || a.matches("|0|\\d*[1-9]") && b.matches("|0|\\d*[1-9]")
                    || a.matches("(\\d{3}){0,3}") && b.matches("(\\d{3}){0,3}");
        }

        private String padding() {
            String day = group("d");
            return day.length() == 1 ? "none" : day.charAt(0) == ' ' ? "space" : day.charAt(0) == '0' ? "zero" : "";
        }

        boolean isIn(Window window) {
            String fraction = group("f") + group("g");
            long unit = fraction.isEmpty()
                    ? (match.namedGroups().containsKey("S") ? 1_000_000_000L : 60_000_000_000L)
                    : (long) Math.pow(10, Math.max(0, 9 - fraction.length()));
            long nanos = Long.parseLong((fraction + "000000000").substring(0, 9));
            long from = window.fromNs() - 1_000_000_000L;
            long to = window.toNs() + 1_000_000_000L;
            String unix = group("s");
            if (!unix.isEmpty()) {
                long places = (long) Math.pow(10, 19 - unix.length());
                long at = Long.parseLong(unix.substring(0, 10)) * 1_000_000_000L
                        + Long.parseLong(unix.substring(10) + "0") / 10 * places
                        + nanos;
                return meets(at, fraction.isEmpty() ? places : unit, from, to);
            }
            // Every day of the window and around it, of which those count that are named.
            LocalDate day = Instant.EPOCH
                    .plusNanos(from)
                    .atOffset(ZoneOffset.UTC)
                    .toLocalDate()
                    .minusDays(3);
            LocalDate last = Instant.EPOCH
                    .plusNanos(to)
                    .atOffset(ZoneOffset.UTC)
                    .toLocalDate()
                    .plusDays(3);
            for (; !day.isAfter(last); day = day.plusDays(1)) {
                if (names(day) && meets(at(day) + nanos, unit, from, to)) {
                    return true;
                }
            }
            return false;
        }

        private static boolean meets(long at, long unit, long from, long to) {
            return at <= to && at + unit > from;
        }

        private boolean names(LocalDate day) {
            String month = group("n").isEmpty() ? group("b") : group("n");
            String name = day.getMonth().name().substring(0, 3);
            return (group("Y").isEmpty() || Integer.parseInt(group("Y")) == day.getYear())
                    && (month.isEmpty()
                            || month.toUpperCase(Locale.ROOT).equals(name)
                            || month.equals("%02d".formatted(day.getMonthValue())))
                    && (group("d").isEmpty() || Integer.parseInt(group("d").strip()) == day.getDayOfMonth())
                    && (group("a").isEmpty()
                            || day.getDayOfWeek().name().startsWith(group("a").toUpperCase(Locale.ROOT)));
        }

        private long at(LocalDate day) {
            int hour = Integer.parseInt(group("H"));
            if (!group("h").isEmpty()) {
                if (hour < 1 || hour > 12) {
                    return Long.MIN_VALUE / 2;
                }
                hour = hour % 12 + (group("h").equals(" PM") ? 12 : 0);
            }
            String second = group("S");
            LocalDateTime time =
                    day.atTime(hour, Integer.parseInt(group("M")), second.isEmpty() ? 0 : Integer.parseInt(second));
            return ChronoUnit.NANOS.between(Instant.EPOCH, time.toInstant(offset()));
        }

        private ZoneOffset offset() {
            String zone = group("z").strip();
            return zone.matches("[-+].*") ? ZoneOffset.of(zone) : ZoneOffset.UTC;
        }
    }

    static SlowMatch of(String recorded, String actual, Window recordedWhen, Window actualWhen) {
        int a = 0;
        int b = 0;
        int tied = 0;
        long times = 0;
        while (a < recorded.length() || b < actual.length()) {
            if (a < recorded.length() && b < actual.length() && recorded.charAt(a) == actual.charAt(b)) {
                a++;
                b++;
                continue;
            }
            int moved = 0;
            for (int back = Math.min(63, a - tied); back >= 0 && moved == 0; back--) {
                Found x = longest(recorded, a - back);
                Found y = longest(actual, b - back);
                if (Math.max(x == null ? 0 : x.length(), y == null ? 0 : y.length()) <= back) {
                    continue;
                }
                if (x == null
                        || y == null
                        || Math.min(x.length(), y.length()) < back
                        || !x.isLike(y)
                        || !x.isIn(recordedWhen)
                        || !y.isIn(actualWhen)) {
                    return new SlowMatch(times, a, b);
                }
                a += x.length() - back;
                b += y.length() - back;
                moved = 1;
            }
            if (moved == 0) {
                return new SlowMatch(times, a, b);
            }
            tied = a;
            times++;
        }
        return new SlowMatch(times, -1, -1);
    }

    private static @Nullable Found longest(String text, int from) {
        Found longest = null;
        for (int i = 0; i < FORMS.size(); i++) {
            Matcher match = FORMS.get(i).matcher(text);
            match.region(from, text.length()).useTransparentBounds(true).useAnchoringBounds(false);
            if (match.lookingAt()) {
                var found = new Found(i, match);
                if (found.length() <= 64 && (longest == null || found.length() > longest.length())) {
                    longest = found;
                }
            }
        }
        return longest;
    }
}
