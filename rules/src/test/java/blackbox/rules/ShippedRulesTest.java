package blackbox.rules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.rules.match.RuleWatch;
import blackbox.rules.shipped.ShippedRules;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The rules that Blackbox brings along: each holds of what it is about.
class ShippedRulesTest {
    /// Events as `KIND COLUMN=VALUE …`, and the titles of all rules that hold of them.
    record Case(Set<String> titles, List<String> events) {}

    private static Case of(String titles, String... events) {
        return new Case(Set.of(titles.isEmpty() ? new String[0] : titles.split("; ")), List.of(events));
    }

    static Stream<Case> cases() {
        String made = "A program was run that the run itself had made";
        String temporary = "A program was run from a folder for temporary files, or from memory";
        String connected = "Secrets were opened, and then a process connected to another host";
        String connect = "net.connect remote_ip=192.0.2.7 remote_port=443 ret=0";
        return Stream.of(
                of("The tracer or its stream was attacked", "recorder.finding what=TRACER_ENDED"),
                of("", "recorder.finding what=CLOCK_SET_BACK"),
                of("A kernel interface was used that can get around what is seen", "privilege.use what=bpf ret=-1"),
                of("", "privilege.use what=bpf ret=3 actor=supervisor"),
                of("A budget was spent", "egress.decision what=budget"),
                of("The stop button did not answer", "control.probe what=failed"),
                of("A process of the agent became root", "cred.change uid=1000 uid_to=0"),
                of("", "cred.change uid=0 uid_to=0", "cred.change uid=0 uid_to=1000"),
                of(
                        "The stand-in of a secret was sent where the secret does not belong",
                        "egress.secret what=elsewhere"),
                of("", "egress.secret what=put"),
                of(temporary, "process.exec exe=/tmp/x ret=0"),
                of(temporary, "process.exec exe=memfd:x ret=0"),
                of(temporary, "process.exec exe=tmpfs[0:45]/x ret=0"),
                of("", "process.exec exe=/usr/bin/git ret=0", "process.exec exe=/tmp/x ret=-2"),
                of(made, "file.open path=/workspace/a.out created=1 ret=3", "process.exec exe=/workspace/a.out ret=0"),
                of("", "file.open path=/workspace/a created=1 ret=3", "process.exec exe=/workspace/b ret=0"),
                of("", "file.open path=/home/agent/.netrc ret=3"),
                of(connected, "file.open path=/home/agent/.aws/credentials ret=3", connect),
                of(
                        "Secrets were opened, and then a request was sent",
                        "file.open path=/workspace/.env ret=3",
                        "http.exchange what=answered"),
                of("", connect, "http.exchange what=answered"),
                of(
                        "",
                        "file.open path=/venv/lib/python3/site-packages/certifi/cacert.pem ret=3",
                        "file.open path=/workspace/.env created=1 ret=3",
                        "file.open path=/home/agent/.netrc ret=-2",
                        connect),
                of("Something was written where the system is", "file.open path=/etc/cron.d/x created=1 ret=3"),
                of(
                        "Something that was there was written where the system is",
                        "file.io path=/etc/hosts bytes_written=3"),
                of(
                        "Something where the system is changed places with another file",
                        "file.rename path=/etc/passwd path_to=/workspace/x flags=2 ret=0"),
                of("", "file.io path=/etc/hosts bytes_read=3", "file.open path=/workspace/x created=1 ret=3"),
                new Case(
                        Set.of("Many files were deleted at once"),
                        IntStream.range(0, 50)
                                .mapToObj(i -> "file.unlink path=/workspace/" + i + " ret=0")
                                .toList()),
                new Case(
                        Set.of(),
                        IntStream.range(0, 50)
                                .mapToObj(i -> "file.unlink path=/workspace/node_modules/" + i + " ret=0")
                                .toList()),
                new Case(
                        Set.of("The egress gateway refused many different names"),
                        IntStream.range(0, 10)
                                .mapToObj(i -> "egress.decision what=deny host=" + i + ".example")
                                .toList()));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void holdsOfWhatItIsAbout(Case each) throws Exception {
        assertEquals(each.titles(), found(each.events()));
    }

    /// Those that are told of, so that no rule is without a case.
    @Test
    void eachIsTried() throws Exception {
        RuleSet rules = RuleSet.of(ShippedRules.all());
        Set<String> all = rules.rules().stream()
                .filter(rules::isTold)
                .map(rule -> rule.about().title())
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> tried =
                cases().map(Case::titles).flatMap(Collection::stream).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(all, tried);
    }

    private static Set<String> found(List<String> events) throws Exception {
        var watch = new RuleWatch(RuleSet.of(ShippedRules.all()));
        var found = new ArrayList<String>();
        long index = 0;
        for (String event : events) {
            for (Match match : watch.see(index, row(event, index))) {
                found.add(match.rule().about().title());
            }
            index++;
        }
        return Set.copyOf(found);
    }

    private static Row row(String event, long index) {
        List<String> words = List.of(event.split(" "));
        var row = new Row();
        row.set(
                Column.KIND,
                Objects.requireNonNull(Kind.ofName(words.getFirst())).code());
        row.set(Column.AT_NS, index).set(Column.SOURCE, Source.GUEST.code());
        row.set(Column.PID, 7).set(Column.START_NS, 7);
        for (String word : words.subList(1, words.size())) {
            String name = word.substring(0, word.indexOf('='));
            String value = word.substring(name.length() + 1);
            Column column = Stream.of(Column.values())
                    .filter(each -> each.columnName().equals(name))
                    .findFirst()
                    .orElseThrow();
            switch (column.type()) {
                case INT, LONG -> row.set(column, Long.parseLong(value));
                default -> row.set(column, Text.of(value));
            }
        }
        return row;
    }

    @Test
    void eachFileIsNamed() throws Exception {
        Path folder = Path.of(Objects.requireNonNull(ShippedRules.class.getResource(ShippedRules.FILES.getFirst()))
                .toURI());
        try (Stream<Path> files = Files.list(Objects.requireNonNull(folder.getParent()))) {
            assertEquals(
                    ShippedRules.FILES,
                    files.map(file -> file.getFileName().toString())
                            .filter(name -> name.endsWith(".yml"))
                            .sorted()
                            .toList());
        }
        assertTrue(ShippedRules.FILES.size() > 1);
    }
}
