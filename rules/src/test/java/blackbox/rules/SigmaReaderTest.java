package blackbox.rules;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.rules.RuleException.Code;
import blackbox.rules.match.RuleWatch;
import blackbox.rules.sigma.SigmaReader;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What rules hold of, and which are none.
class SigmaReaderTest {
    private static final String RULE = """
            title: t
            id: a
            logsource: {product: linux, category: process_creation}
            detection:
                selection:
                    %s
                other:
                    Image: /bin/other
                condition: %s
            level: low
            """;

    private static List<Rule> read(String text) throws RuleException {
        return SigmaReader.read("test.yml", text.getBytes(UTF_8));
    }

    private static Row exec(String image, String... argv) {
        var row = new Row();
        row.set(Column.KIND, Kind.PROCESS_EXEC.code()).set(Column.SOURCE, 1).set(Column.AT_NS, 1);
        row.set(Column.PID, 7).set(Column.START_NS, 7).set(Column.UID, 0).set(Column.RET, 0);
        row.set(Column.EXE, image);
        row.set(Column.ARGV, Stream.of(argv).map(Text::of).toList());
        return row;
    }

    private static boolean holds(String selection, String condition, Row row) throws RuleException {
        RuleSet rules = RuleSet.of(read(RULE.formatted(selection, condition)));
        return !new RuleWatch(rules).see(0, row).isEmpty();
    }

    /// Of `/bin/Tool -x 'a*b' %PATH`, run by root.
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "CommandLine: '/bin/tool -X a*b 100%' ; true",
                "CommandLine: '/bin/tool -x a\\*b 100%' ; true",
                "CommandLine: '/bin/tool -x a\\?b 100%' ; false",
                "CommandLine: '/bin/tool -x a?b 100%' ; true",
                "CommandLine: '*tool*100%' ; true",
                "CommandLine: '*tool*100' ; false",
                "CommandLine|contains: TOOL ; true",
                "CommandLine|contains|cased: TOOL ; false",
                "CommandLine|contains|all: [tool, '100'] ; true",
                "CommandLine|contains|all: [tool, '101'] ; false",
                "CommandLine|contains: [tool, '101'] ; true",
                "CommandLine|contains: 'x*100' ; true",
                "CommandLine|startswith: '/BIN/' ; true",
                "CommandLine|startswith: '/b?n/t' ; true",
                "CommandLine|endswith: '00%' ; true",
                "CommandLine|endswith: '00' ; false",
                "CommandLine|re: '-x\\s+a' ; true",
                "CommandLine|re: '-X\\s+a' ; false",
                "CommandLine|re|i: '-X\\s+a' ; true",
                "CommandLine|re: '^tool' ; false",
                "CommandLine|windash|contains: ' /x ' ; true",
                "CommandLine|base64offset|contains: tool ; false",
                "ProcessId|gte: 7 ; true",
                "ProcessId|gt: 7 ; false",
                "ProcessId|lt: 7.5 ; true",
                "ProcessId|lte: 6 ; false",
                "ProcessId: 7 ; true",
                "CommandLine|gt: 7 ; false",
                "User: ROOT ; true",
                "ParentImage: null ; true",
                "ParentImage: '' ; false",
                "ParentImage|exists: false ; true",
                "Image|exists: true ; true",
                "Image|fieldref: CommandLine ; false",
                "Image|fieldref: Image ; true",
                "Image|neq: /bin/tool ; false",
                "CurrentDirectory|neq: / ; true"
            })
    void modifiers(String selection, boolean holds) throws RuleException {
        assertEquals(holds, holds(selection, "selection", exec("/bin/Tool", "/bin/Tool", "-x", "a*b", "100%")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "xy", "xyz"})
    void whatIsCodedIsFoundWhereverItBegins(String before) throws RuleException {
        String coded = Base64.getEncoder().encodeToString((before + "curl evil.example" + before).getBytes(UTF_8));
        assertTrue(holds(
                "CommandLine|base64offset|contains: 'curl evil.example'", "selection", exec("/bin/sh", "sh", coded)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "selection and other              | false",
                "selection or other               | true",
                "not other                        | true",
                "not (selection or other)         | false",
                "selection and not other          | true",
                "other or selection and other     | false",
                "(other or selection) and not other | true",
                "1 of them                        | true",
                "all of them                      | false",
                "any of sel*                      | true",
                "all of sel*                      | true",
                "1 of oth* or 1 of selectio?      | true",
                "not 1 of oth*                    | true"
            })
    void conditions(String condition, boolean holds) throws RuleException {
        assertEquals(holds, holds("Image: /bin/tool", condition, exec("/bin/tool", "tool")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "selection and",
                "selection other",
                "(selection",
                "nothing",
                "2 of them",
                "all of x*",
                "and selection",
                "1 of",
                "not"
            })
    void badConditionsAreRefused(String condition) {
        refused(Code.MALFORMED, RULE.formatted("Image: a", condition));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "Image: a; selection | count() > 5",
                "LogonId: 0; selection",
                "Image|expand: '%x%'; selection",
                "Image|re: '(?=x)'; selection"
            })
    void whatIsNotKnownIsLeftOut(String selection, String condition) {
        refused(Code.UNSUPPORTED, RULE.formatted(selection, condition));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Image|contains|startswith: a",
                "Image|re|contains: a",
                "Image|i: a",
                "Image|base64offset|contains: x",
                "Image: []",
                "Image: {a: b}",
                "Image|exists: maybe",
                "ProcessId|gt: many",
                "Image|cidr: nowhere"
            })
    void badSelectionsAreRefused(String selection) {
        refused(Code.MALFORMED, RULE.formatted(selection, "selection"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "- a",
                "title: t",
                "title: t\nlogsource: {product: linux, category: process_creation}",
                "title: t\ntitle: u",
                "a: [",
                "title: &a t\nb: *a",
                "title: t\nlevel: bad\nlogsource: {product: linux, category: process_creation}\ndetection: {a: {Image: b}, condition: a}",
                "title: \"t\\n\"\nlogsource: {product: linux, categorie: x}"
            })
    void whatIsNoRuleIsRefused(String text) {
        refused(Code.MALFORMED, text);
    }

    private static void refused(Code code, String text) {
        var e = assertThrows(RuleException.class, () -> read(text), text);
        assertEquals(code, e.code(), e::getMessage);
    }

    @Test
    void wordsWithoutAFieldAreLookedForInTheCommand() throws RuleException {
        RuleSet rules = RuleSet.of(read("""
                title: t
                logsource: {product: linux, category: process_creation}
                detection:
                    keywords: [evil, 'wor?e']
                    condition: keywords
                """));
        assertTrue(new RuleWatch(rules)
                        .see(0, exec("/bin/sh", "sh", "-c", "be worse"))
                        .size()
                == 1);
        assertTrue(new RuleWatch(rules)
                .see(0, exec("/bin/sh", "sh", "-c", "be good"))
                .isEmpty());
    }

    /// `*` many times over, on a text that nearly fits, and an expression that others would take for ever with.
    @Test
    void noRuleTakesForEver() throws RuleException {
        String many = "a".repeat(60_000);
        Row row = exec("/bin/a", many);
        long began = System.nanoTime();
        holds("CommandLine: '" + "*a".repeat(40) + "*b'", "selection", row);
        holds("CommandLine|re: '(a+)+(a+)+b'", "selection", row);
        long tookMs = (System.nanoTime() - began) / 1_000_000;
        assertTrue(tookMs < 5_000, tookMs + " ms");
    }

    @Test
    void rulesThatAreUsedTogetherHaveNamesOfTheirOwn() throws RuleException {
        List<Rule> one = read(RULE.formatted("Image: a", "selection"));
        assertThrows(
                RuleException.class,
                () -> RuleSet.of(Stream.concat(one.stream(), one.stream()).toList()));
        List<Rule> over = read("""
                title: t
                id: b
                correlation: {type: event_count, rules: [missing], timespan: 1m, condition: {gte: 2}}
                """);
        assertThrows(RuleException.class, () -> RuleSet.of(over));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{type: event_count, rules: a, timespan: 1m, condition: {gte: 20000}}",
                "{type: event_count, rules: a, timespan: 1m, condition: {gte: 0}}",
                "{type: event_count, rules: a, timespan: 1m}",
                "{type: value_count, rules: a, timespan: 1m, condition: {gte: 2}}",
                "{type: event_count, timespan: 1m, condition: {gte: 2}}"
            })
    void badCorrelationsAreRefused(String correlation) {
        refused(Code.MALFORMED, "title: t\ncorrelation: " + correlation);
    }
}
