package blackbox.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.rules.match.RuleWatch;
import blackbox.rules.sigma.SigmaReader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Rules over how often and in which order others hold. An event is `SECOND KIND PATH`: `o` opens, `u` unlinks.
class CorrelatorTest {
    private static final String PARTS = """
            title: opened
            name: opened
            logsource: {product: blackbox, category: file.open}
            detection: {any: {path|contains: /}, condition: any}
            id: o
            ---
            title: unlinked
            name: unlinked
            logsource: {product: blackbox, category: file.unlink}
            detection: {any: {path|contains: /}, condition: any}
            id: u
            ---
            title: over
            id: over
            correlation:
            """;

    /// @return of each time that the rule over others held, the indexes of what it needed
    private static List<List<Long>> found(String correlation, String... events) throws RuleException {
        String text = PARTS + correlation.indent(4);
        RuleSet rules = RuleSet.of(SigmaReader.read("t", text.getBytes(StandardCharsets.UTF_8)));
        var watch = new RuleWatch(rules);
        var found = new ArrayList<List<Long>>();
        long index = 0;
        for (String event : events) {
            String[] words = event.split(" ");
            var row = new Row();
            row.set(Column.KIND, (words[1].equals("o") ? Kind.FILE_OPEN : Kind.FILE_UNLINK).code());
            row.set(Column.AT_NS, Long.parseLong(words[0]) * 1_000_000_000).set(Column.PATH, words[2]);
            for (Match match : watch.see(index++, row)) {
                boolean isOver = match.rule() instanceof Rule.OverRules;
                assertTrue(isOver || !correlation.contains(match.rule().about().title()), "it is not told of");
                if (isOver) {
                    found.add(match.indexes());
                }
            }
        }
        return found;
    }

    @Test
    void counts() throws RuleException {
        String three = "type: event_count\nrules: opened\ntimespan: 10s\ncondition: {gte: 3}\n";
        assertEquals(List.of(List.of(0L, 2L, 3L)), found(three, "1 o /a", "2 u /a", "3 o /a", "11 o /b", "12 o /c"));
        assertEquals(List.of(), found(three, "1 o /a", "2 o /a", "12 o /b", "23 o /c"));
        assertEquals(
                2,
                found(three, "1 o /a", "1 o /a", "1 o /a", "1 o /a", "1 o /a", "1 o /a", "1 o /a")
                        .size());
        String perPath = three + "group-by: path\n";
        assertEquals(List.of(List.of(0L, 2L, 3L)), found(perPath, "1 o /a", "1 o /b", "2 o /a", "3 o /a", "3 o /b"));
    }

    @Test
    void countsValues() throws RuleException {
        String two = "type: value_count\nrules: [opened, unlinked]\ntimespan: 10s\ncondition: {gt: 1, field: path}\n";
        assertEquals(List.of(), found(two, "1 o /a", "2 u /a", "3 o /a"));
        assertEquals(List.of(List.of(2L, 3L)), found(two, "1 o /a", "2 u /a", "3 o /a", "4 u /b"));
    }

    @Test
    void together() throws RuleException {
        String both = "type: temporal\nrules: [opened, unlinked]\ntimespan: 10s\n";
        assertEquals(List.of(List.of(0L, 1L)), found(both, "1 u /a", "2 o /a"));
        assertEquals(List.of(List.of(1L, 2L)), found(both, "1 u /a", "20 u /a", "21 o /a"));
        assertEquals(List.of(), found(both, "1 u /a", "20 o /a"));
    }

    @Test
    void inOrder() throws RuleException {
        String both = "type: temporal_ordered\nrules: [opened, unlinked]\ntimespan: 10s\n";
        assertEquals(List.of(), found(both, "1 u /a", "2 o /a"));
        assertEquals(List.of(List.of(1L, 2L)), found(both, "1 u /a", "2 o /a", "3 u /b", "4 u /b"));
        assertEquals(List.of(List.of(1L, 2L)), found(both, "1 o /a", "9 o /a", "12 u /a"), "the latest that fits");
        String same = both + "group-by: path\n";
        assertEquals(List.of(List.of(0L, 2L)), found(same, "1 o /a", "2 u /b", "3 u /a"));
        String twice = "type: temporal_ordered\nrules: [opened, opened, unlinked]\ntimespan: 10s\n";
        assertEquals(List.of(), found(twice, "1 o /a", "2 u /a"), "one match is not two");
        assertEquals(List.of(List.of(0L, 1L, 2L)), found(twice, "1 o /a", "2 o /a", "3 u /a"));
    }
}
