package blackbox.node.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// The system calls of the guest's kernel, each made in one way or several, and `docs/COVERAGE.md`, which says
/// the same to people.
///
/// @param lines in the order in which they are made
record SystemCalls(List<Line> lines) {

    private static final String GAP = "NOT SEEN: ";
    private static final String GONE = "this kernel does not have it";

    /// The kernel's tables of calls.
    enum Table {
        SYSCALL("", ""),
        INT_80("int80:", " by int 0x80"),
        IO_URING("uring:", " by io_uring");

        private final String prefix;
        private final String words;

        Table(String prefix, String words) {
            this.prefix = prefix;
            this.words = words;
        }

        static Table of(String number) {
            return number.startsWith(INT_80.prefix) ? INT_80 : number.startsWith(IO_URING.prefix) ? IO_URING : SYSCALL;
        }
    }

    /// One way to make a call.
    ///
    /// @param result `ok`, or the name of the error that the caller gets
    /// @param events kinds of events; a kind that has a `what` is followed by a space and that
    /// @param remark says why there is no event, or what of it; what follows `NOT SEEN: ` is a gap; may be empty
    ///     where there are events
    /// @param call as `calls.py` makes it
    record Line(Table table, int number, String name, String result, Set<String> events, String remark, String call) {

        static Line of(String text) {
            String[] columns = text.split("\t", -1);
            if (columns.length != 6) {
                throw new IllegalArgumentException("six columns wanted: " + text);
            }
            Table table = Table.of(columns[0]);
            int number = Integer.parseInt(columns[0].substring(table.prefix.length()));
            Set<String> events = columns[3].equals("-") ? Set.of() : new TreeSet<>(List.of(columns[3].split(", ")));
            String remark = columns[4].equals("-") ? "" : columns[4];
            if (events.isEmpty() && remark.isEmpty()) {
                throw new IllegalArgumentException("no word why there is no event: " + text);
            }
            return new Line(table, number, columns[1], columns[2], events, remark, columns[5]);
        }

        boolean isGap() {
            return remark.contains(GAP);
        }

        boolean isSeen() {
            return !events.isEmpty();
        }

        String gap() {
            return remark.substring(remark.indexOf(GAP) + GAP.length());
        }

        /// The call's name as it is in a list, with its error.
        private String named() {
            return "`" + name + "`" + table.words + (result.equals("ok") ? "" : " (" + result + ")");
        }

        private String row() {
            String kinds = isSeen() ? String.join(", ", events) : "none";
            return "| " + number + " | `" + name + "` | " + result + " | " + kinds + " | " + remark + " |\n";
        }
    }

    static SystemCalls in(Path table) throws IOException {
        return new SystemCalls(
                Files.readAllLines(table).stream().skip(1).map(Line::of).toList());
    }

    /// The page, as Markdown.
    String page() {
        return """
                # Which system call makes which event

                Every call of the 64-bit table of the guest's kernel, Linux 6.1, and the kinds of events that it makes (`schemas/events.md`).
                Made from `cli/src/test/resources/coverage/system-calls.tsv`. `CoverageTest` makes each call in a recorded guest, as root with the
                capabilities that agents have. It fails if an event is missing, if there is one that is not named here, if the result is another
                one, or if the kernel knows a number that is not in its list. An error in brackets is what the test's call got.

                %s
                ## What is not seen

                %s
                ## What makes an event

                A call that was made in several ways is there more than once. An event of a call that failed has the error as its `ret`.

                %s
                ## What makes none, and why nothing is missed

                %s
                ## By int 0x80

                32-bit programs have a table of their own. Most of its calls lead to the same functions of the kernel; some of those were made, and what
                is seen only at the end of a 64-bit call. The others, and those of x32, were not made.

                %s
                ## By io_uring

                Operations that are submitted to io_uring, as far as they do what a call does. Those that are not here were not made.

                %s""".formatted(
                        numbers(),
                        list(of(Line::isGap), Line::gap),
                        table(of(line -> line.table() == Table.SYSCALL && line.isSeen())),
                        list(of(line -> !line.isSeen() && !line.isGap()), Line::remark),
                        table(of(line -> line.table() == Table.INT_80)),
                        table(of(line -> line.table() == Table.IO_URING)));
    }

    private List<Line> of(Predicate<Line> which) {
        return lines.stream().filter(which).toList();
    }

    private String numbers() {
        Map<Integer, List<Line>> calls = lines.stream()
                .filter(line -> line.table() == Table.SYSCALL)
                .collect(Collectors.groupingBy(Line::number));
        long seen = count(calls, SystemCalls::isSeen);
        long partly = count(calls, ways -> isSeen(ways) && isGap(ways));
        long gaps = count(calls, ways -> !isSeen(ways) && isGap(ways));
        long gone =
                count(calls, ways -> ways.stream().allMatch(way -> way.remark().equals(GONE)));
        long ways = calls.values().stream().mapToLong(List::size).sum();
        return """
                | calls | |
                |---|---|
                | %d | in the table, all made by the test, in %d ways; besides, %d ways by `int 0x80` and io_uring |
                | %d | make an event; of %d of them something is not seen all the same |
                | %d | make none, and nothing is missed: it stays with the caller, or another call's event says it |
                | %d | make none, though there would be something to say |
                | %d | are not in this kernel |
                """.formatted(
                calls.size(), ways, lines.size() - ways, seen, partly, calls.size() - seen - gaps - gone, gaps, gone);
    }

    private static long count(Map<Integer, List<Line>> calls, Predicate<List<Line>> which) {
        return calls.values().stream().filter(which).count();
    }

    private static boolean isSeen(List<Line> ways) {
        return ways.stream().anyMatch(Line::isSeen);
    }

    private static boolean isGap(List<Line> ways) {
        return ways.stream().anyMatch(Line::isGap);
    }

    /// A point for each text, with the calls of which it is said.
    private static String list(List<Line> lines, Function<Line, String> said) {
        var calls = new LinkedHashMap<String, Set<String>>();
        lines.forEach(line -> calls.computeIfAbsent(said.apply(line), _ -> new LinkedHashSet<>())
                .add(line.named()));
        var text = new StringBuilder();
        calls.forEach((words, names) -> text.append("- ")
                .append(capital(words))
                .append(": ")
                .append(String.join(", ", names))
                .append(".\n"));
        return text.toString();
    }

    /// Kinds of events keep their small letters.
    private static String capital(String words) {
        boolean isKind = words.split(" ", 2)[0].contains(".");
        return isKind ? words : words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1);
    }

    private static String table(List<Line> lines) {
        return lines.stream()
                .sorted(Comparator.comparingInt(Line::number))
                .map(Line::row)
                .collect(Collectors.joining("", "| | call | result | events | |\n|---|---|---|---|---|\n", ""));
    }
}
