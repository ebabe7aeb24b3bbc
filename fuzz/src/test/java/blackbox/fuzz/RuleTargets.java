package blackbox.fuzz;

import static blackbox.fuzz.FuzzTarget.ensure;

import blackbox.rules.Rule;
import blackbox.rules.RuleException;
import blackbox.rules.RuleSet;
import blackbox.rules.match.RuleWatch;
import blackbox.rules.sigma.SigmaReader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/// Detection rules that somebody wrote: they are refused in words, or hold or do not hold of an event.
final class RuleTargets {
    /// With every modifier.
    private static final String EVENTS = """
            title: t
            id: a
            name: n
            logsource: {product: linux, category: process_creation}
            detection:
                one:
                    Image|endswith: [/a, /b]
                    CommandLine|contains|all: ["*x?", '\\*']
                    CommandLine|re|i: '(a+)+b'
                    ProcessId|gte: 7
                two:
                    - Image|fieldref: ParentImage
                    - User|cased: root
                    - CommandLine|base64offset|contains: abcd
                    - ParentImage|exists: true
                words: [evil, "w*rse"]
                condition: (one or not 1 of t*) and not all of them
            level: high
            """;

    private static final String OVER = """
            title: t
            id: a
            logsource: {product: blackbox, category: net.connect}
            detection: {a: {remote_ip|cidr: 10.1.0.0/16, detail.x: null}, condition: a}
            ---
            title: o
            id: b
            correlation:
                type: value_count
                rules: [a, a]
                group-by: who
                aliases: {who: {a: Image}}
                timespan: 10m
                condition: {gt: 1, field: remote_ip}
                generate: true
            """;

    private RuleTargets() {}

    static List<FuzzTarget> all() {
        return List.of(FuzzTarget.of("rules", 8 << 10, RuleTargets::rules, RuleTargets::seeds, RuleException.class));
    }

    private static boolean rules(byte[] octets) throws RuleException {
        List<Rule> read = SigmaReader.read("f", octets);
        for (Rule rule : read) {
            String line = rule.about().title() + rule.about().id();
            ensure(line.codePoints().noneMatch(Character::isISOControl), "a rule is told in more than a line");
        }
        RuleSet rules = RuleSet.of(read);
        var watch = new RuleWatch(rules);
        for (long index = 0; index < 3; index++) {
            for (Kind kind : List.of(Kind.PROCESS_EXEC, Kind.NET_CONNECT, Kind.FILE_OPEN)) {
                watch.see(index, row(kind));
            }
        }
        return true;
    }

    private static Row row(Kind kind) {
        var row = new Row();
        row.set(Column.KIND, kind.code())
                .set(Column.AT_NS, 1)
                .set(Column.PID, 7)
                .set(Column.START_NS, 7);
        row.set(Column.EXE, "/bin/a").set(Column.ARGV, List.of(Text.of("a"), Text.of("x".repeat(200))));
        row.set(Column.PATH, "/f").set(Column.REMOTE_IP, "10.1.2.3").set(Column.DETAIL, "{\"x\":1}");
        return row.set(Column.CREATED, 1);
    }

    private static Map<String, byte[]> seeds() {
        return Map.of(
                "events", EVENTS.getBytes(StandardCharsets.UTF_8),
                "over", OVER.getBytes(StandardCharsets.UTF_8));
    }
}
