package blackbox.rules;

import blackbox.rules.condition.Condition;
import blackbox.rules.condition.TextPattern;
import blackbox.rules.condition.TextPattern.Glob;
import blackbox.rules.event.Category;
import blackbox.rules.event.Field;
import blackbox.rules.event.Field.Derived;
import blackbox.rules.event.Field.OfColumn;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.GuestOrigin;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Text;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Events that a rule is to hold of, made from its condition. What it must not hold of is left to chance, so that
/// there are several to try.
public final class Planted {
    private static final int WAYS_MAX = 2_000;

    /// What a regular expression of the rules finds: nothing here makes one up.
    private static final Map<String, String> EXAMPLES = Map.of(
            "-D", "-D",
            "(.){200,}", "y".repeat(200),
            "-(W|R)\\s?(\\s|\"|')([0-9a-fA-F]{2}\\s?){2,20}(\\s|\"|')", "-W 61 62 63 ",
            "\\s-[FTd]\\s", " -F ",
            "(?:\\s-[^-\\s]{0,20}i|\\s--inode\\s)", " -li",
            "(?:\\s-[^-\\s]{0,20}d|\\s--directory\\s)", " -ld",
            "\\s-O\\s", " -O ");

    private final EventClock clock;
    private final ProcessRef parent;
    private final ProcessRef process;

    /// Gives events their times and numbers.
    public static final class EventClock {
        private long atNs;
        private long sequence;
        private int pid = 100;

        /// @param atNs of the first event
        public EventClock(long atNs, long sequence) {
            this.atNs = atNs;
            this.sequence = sequence;
        }

        public EventHeader of(ProcessRef process) {
            atNs += 1_000_000;
            return new EventHeader(
                    atNs, Source.GUEST, new GuestOrigin(0, ++sequence, Actor.AGENT), process, Marks.NONE);
        }
    }

    private Planted(EventClock clock, @Nullable String user) {
        this.clock = clock;
        clock.pid += 2;
        int uid = user == null ? 1000 : user.equals("root") ? 0 : 1001;
        parent = new ProcessRef(clock.pid, clock.pid, 1, clock.pid * 1_000L, Text.of("p"), 1000);
        int child = clock.pid + 1;
        process = new ProcessRef(child, child, clock.pid, child * 1_000L, Text.of("c"), uid);
    }

    /// Ways to make a rule hold; the last event of each is the one.
    public static List<List<Event>> of(Rule.OfEvents rule, EventClock clock) {
        var ways = new ArrayList<List<Event>>();
        for (Map<Field, List<TextPattern>> wanted : wanted(rule.condition())) {
            var values = new HashMap<Field, String>();
            wanted.forEach((field, patterns) -> values.put(field, value(patterns)));
            ways.add(new Planted(clock, values.get(Derived.USER)).events(rule.category(), values));
        }
        return ways;
    }

    private static List<Map<Field, List<TextPattern>>> wanted(Condition condition) {
        return switch (condition) {
            case Condition.Any(List<Condition> parts) ->
                parts.stream().flatMap(part -> wanted(part).stream()).toList();
            case Condition.All(List<Condition> parts) -> {
                List<Map<Field, List<TextPattern>>> all = List.of(Map.of());
                for (Condition part : parts) {
                    var more = new ArrayList<Map<Field, List<TextPattern>>>();
                    for (Map<Field, List<TextPattern>> one : all) {
                        for (Map<Field, List<TextPattern>> other : wanted(part)) {
                            if (more.size() < WAYS_MAX) {
                                more.add(joined(one, other));
                            }
                        }
                    }
                    all = more;
                }
                yield all;
            }
            case Condition.Fits(Field field, TextPattern pattern) -> List.of(Map.of(field, List.of(pattern)));
            case Condition.Not _, Condition.Same _ -> List.of(Map.of());
        };
    }

    private static Map<Field, List<TextPattern>> joined(
            Map<Field, List<TextPattern>> one, Map<Field, List<TextPattern>> other) {
        var both = new HashMap<>(one);
        other.forEach((field, patterns) -> {
            var all = new ArrayList<>(both.getOrDefault(field, List.of()));
            all.addAll(patterns);
            both.put(field, all);
        });
        return both;
    }

    private static String value(List<TextPattern> patterns) {
        var starts = new StringBuilder();
        var within = new StringBuilder();
        var ends = new StringBuilder();
        for (TextPattern pattern : patterns) {
            switch (pattern) {
                case TextPattern.Exactly exactly -> {
                    return exactly.wanted();
                }
                case TextPattern.Starts text -> starts.append(text.wanted());
                case TextPattern.Ends text -> ends.append(text.wanted());
                case TextPattern.Contains text -> within.append(text.wanted()).append(' ');
                case TextPattern.Matches expression ->
                    within.append(EXAMPLES.getOrDefault(expression.pattern().pattern(), "?"));
                case TextPattern.Within addresses ->
                    within.append(addresses.range().base());
                case TextPattern.Compares number -> within.append(number.limit());
                case TextPattern.Missing _ -> {}
                case Glob glob ->
                    glob.pieces()
                            .forEach(piece -> within.append(piece instanceof Glob.Literal(String text) ? text : "x"));
            }
        }
        return "" + starts + within + ends;
    }

    private List<Event> events(Category category, Map<Field, String> values) {
        var events = new ArrayList<Event>();
        events.add(exec(
                parent,
                values.getOrDefault(Derived.PARENT_IMAGE, "/bin/parent"),
                values.getOrDefault(Derived.PARENT_COMMAND_LINE, "parent"),
                "/"));
        Event.ProcessExec own = exec(
                process,
                values.getOrDefault(Derived.IMAGE, "/bin/own"),
                values.getOrDefault(Derived.COMMAND_LINE, "own"),
                values.getOrDefault(new OfColumn(Column.CWD), "/"));
        events.add(own);
        if (category == Category.Sigma.FILE_EVENT) {
            events.add(new Event.FileOpen(
                    clock.of(process), text(values, Derived.TARGET_FILENAME, "/f"), 0101, 0600, true, 3));
        }
        if (category == Category.Sigma.NETWORK_CONNECTION) {
            String address = values.getOrDefault(new OfColumn(Column.REMOTE_IP), "198.51.100.7");
            var resolver = new Endpoint("10.0.2.3", 53);
            events.add(new Event.DnsQuery(
                    clock.of(process),
                    text(values, Derived.DESTINATION_HOSTNAME, "unknown.example"),
                    1,
                    List.of(Text.of(address)),
                    "udp",
                    new Endpoint("10.0.2.15", 40_000),
                    resolver));
            int port = Integer.parseInt(values.getOrDefault(new OfColumn(Column.REMOTE_PORT), "443"));
            events.add(new Event.NetCall(
                    clock.of(process), Kind.NET_CONNECT, "tcp", null, new Endpoint(address, port), null, 0));
        }
        return events;
    }

    private Event.ProcessExec exec(ProcessRef who, String image, String commandLine, String cwd) {
        return new Event.ProcessExec(
                clock.of(who), Text.of(image), List.of(Text.of(commandLine)), List.of(), Text.of(cwd), 0);
    }

    private static Text text(Map<Field, String> values, Field field, String otherwise) {
        return Text.of(values.getOrDefault(field, otherwise));
    }
}
