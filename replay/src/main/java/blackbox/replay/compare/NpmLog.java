package blackbox.replay.compare;

import blackbox.replay.content.ContentMatch;
import blackbox.replay.content.Origins;
import blackbox.replay.content.Window;
import blackbox.replay.content.WrittenWhen;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Compares the logs that npm leaves (`_logs/<time>-debug-0.log`): entries that are numbered from 0, each of one line
/// or more. Entries about what npm does side by side (a download, unpacking a package, linking its programs) are in
/// the order in which each was over, and may be in another place; all others may not, and every entry must be there
/// as often.
///
/// A download may have needed another number of attempts: npm tries again where a connection was lost before anything
/// was answered on it, and what it asked and was answered is compared elsewhere.
///
/// What took so many milliseconds in an entry about timing or HTTP was measured: there any duration may stand for
/// another one that is no longer than its side's npm had run. All other durations are compared as in any file.
final class NpmLog {
    private static final Pattern PATH = Pattern.compile(
            ".*/_logs/\\d{4}-\\d\\d-\\d\\dT\\d\\d_\\d\\d_\\d\\d_\\d{3}Z-debug-\\d+\\.log", Pattern.DOTALL);
    private static final Pattern LINE = Pattern.compile("(0|[1-9]\\d{0,6}) (.*)", Pattern.DOTALL);
    private static final Pattern MEASURED = Pattern.compile("(?<= )\\d+ms\\b( attempt #\\d+)?");
    private static final List<String> MEASURING = List.of("timing ", "http ");
    private static final String FETCH = "http fetch ";
    private static final List<String> SIDE_BY_SIDE = List.of(
            FETCH,
            "http cache ",
            "timing reifyNode:",
            "timing build:link:",
            "timing build:run:",
            "silly tarball ",
            "silly logfile done cleaning log files");
    private static final int BYTES_MAX = 4 << 20;

    private NpmLog() {}

    /// How two such logs compare.
    ///
    /// @param moved how many entries of the other one are in another place, or say another number of attempts
    record Compared(ContentMatch match, long moved) {}

    /// Whether a path is one of such a file.
    static boolean is(String path) {
        return PATH.matcher(path).matches();
    }

    /// Compares two such files; one of more than 4 MiB, or of another form, as any other file.
    static Compared compare(InputStream recorded, InputStream actual, Origins origins) throws IOException {
        byte[] one = recorded.readNBytes(BYTES_MAX);
        byte[] other = actual.readNBytes(BYTES_MAX);
        boolean whole = one.length < BYTES_MAX && other.length < BYTES_MAX;
        List<String> expected = whole ? entries(text(one)) : null;
        List<String> found = whole ? entries(text(other)) : null;
        if (expected == null || found == null) {
            return new Compared(ContentMatch.of(rejoined(one, recorded), rejoined(other, actual), origins), 0);
        }
        List<String> ordered = inOrderOf(expected, found);
        Log was = Log.of(expected);
        Log is = Log.of(ordered);
        ContentMatch match = ContentMatch.of(
                new ByteArrayInputStream(was.octets()),
                new ByteArrayInputStream(is.octets()),
                new Origins(was.written(origins.recorded()), is.written(origins.actual()), origins.values()));
        long moved = IntStream.range(0, found.size())
                .filter(i -> !found.get(i).equals(ordered.get(i)))
                .count();
        return new Compared(match, moved);
    }

    /// What each entry says, line by line; null if it is no such log.
    private static @Nullable List<String> entries(String log) {
        if (!log.endsWith("\n")) {
            return null;
        }
        var entries = new ArrayList<StringBuilder>();
        for (String line : log.substring(0, log.length() - 1).split("\n", -1)) {
            var parts = LINE.matcher(line);
            if (!parts.matches()) {
                return null;
            }
            String said = parts.group(2) + "\n";
            int number = Integer.parseInt(parts.group(1));
            if (number == entries.size()) {
                entries.add(new StringBuilder(said));
            } else if (number == entries.size() - 1) {
                entries.getLast().append(said);
            } else {
                return null;
            }
        }
        return entries.stream().map(StringBuilder::toString).toList();
    }

    /// The found entries, with those about what is done side by side in the places that they have among the expected
    /// ones; as they are if there is not the same number of each.
    private static List<String> inOrderOf(List<String> expected, List<String> found) {
        var apart = new HashMap<String, Deque<String>>();
        var others = new ArrayDeque<String>();
        for (String each : found) {
            if (isSideBySide(each)) {
                apart.computeIfAbsent(withoutDurations(each), _ -> new ArrayDeque<>())
                        .add(each);
            } else {
                others.add(each);
            }
        }
        var ordered = new ArrayList<String>();
        for (String each : expected) {
            Deque<String> from = isSideBySide(each) ? apart.get(withoutDurations(each)) : others;
            if (from == null || from.isEmpty()) {
                return found;
            }
            ordered.add(withAttemptsOf(each, from.remove()));
        }
        return ordered.size() == found.size() ? ordered : found;
    }

    private static boolean isSideBySide(String entry) {
        return SIDE_BY_SIDE.stream().anyMatch(entry::startsWith);
    }

    private static String withoutDurations(String entry) {
        return MEASURED.matcher(entry).replaceAll("ms");
    }

    /// What was found of a download, with the expected number of attempts.
    private static String withAttemptsOf(String expected, String found) {
        var one = MEASURED.matcher(expected);
        var other = MEASURED.matcher(found);
        if (!expected.startsWith(FETCH) || !one.find() || !other.find()) {
            return found;
        }
        String attempts = one.group(1) == null ? "" : one.group(1);
        int from = other.group(1) == null ? other.end() : other.start(1);
        return found.substring(0, from) + attempts + found.substring(other.end());
    }

    /// A log as npm writes it.
    ///
    /// @param measured where durations begin in it that npm measured
    private record Log(byte[] octets, BitSet measured) {
        static Log of(List<String> entries) {
            var log = new StringBuilder();
            var measured = new BitSet();
            for (int i = 0; i < entries.size(); i++) {
                String entry = entries.get(i);
                int said = log.length() + Integer.toString(i).length() + 1;
                measuredIn(entry).forEach(start -> measured.set(said + start));
                for (String line : entry.split("(?<=\n)")) {
                    log.append(i).append(' ').append(line);
                }
            }
            return new Log(log.toString().getBytes(StandardCharsets.ISO_8859_1), measured);
        }

        /// Where durations begin in the first line of an entry, if it is about what npm measures.
        private static IntStream measuredIn(String entry) {
            return MEASURING.stream().anyMatch(entry::startsWith)
                    ? MEASURED.matcher(entry.split("\n", 2)[0]).results().mapToInt(MatchResult::start)
                    : IntStream.empty();
        }

        WrittenWhen written(WrittenWhen when) {
            return new WrittenWhen() {
                @Override
                public Window at(long octet) {
                    return when.at(octet);
                }

                @Override
                public long sinceNs() {
                    return when.sinceNs();
                }

                @Override
                public boolean isMeasured(long octet) {
                    return measured.get((int) octet);
                }
            };
        }
    }

    private static String text(byte[] octets) {
        return new String(octets, StandardCharsets.ISO_8859_1);
    }

    private static InputStream rejoined(byte[] first, InputStream rest) {
        return new SequenceInputStream(new ByteArrayInputStream(first), rest);
    }
}
