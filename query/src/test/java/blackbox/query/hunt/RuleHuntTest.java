package blackbox.query.hunt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.TestRun;
import blackbox.evidence.store.Recordings;
import blackbox.query.sql.SqlEngine;
import blackbox.query.sql.SqlLimits;
import blackbox.rules.Match;
import blackbox.rules.Planted;
import blackbox.rules.Rule;
import blackbox.rules.RuleSet;
import blackbox.rules.SigmaHqTest;
import blackbox.rules.match.RuleWatch;
import blackbox.rules.sigma.SigmaReader;
import blackbox.schemas.Seeded;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventRows;
import blackbox.schemas.event.ProcessRef;
import blackbox.schemas.row.Row;
import blackbox.schemas.row.Text;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// SQL finds of a recorded run what the watch finds of its events.
class RuleHuntTest {
    @TempDir
    Path folder;

    @Test
    void sigmaHqsRulesFindTheSameInTheTableAsInTheEvents() throws Exception {
        RuleSet rules = RuleSet.of(SigmaHqTest.read());
        var run = new TestRun(folder.resolve("data"));
        run.open("rules");
        run.seal();
        var clock = new Planted.EventClock(TestRun.START_NS, run.nextNumber(0));
        var watch = new RuleWatch(rules);
        var row = new Row();
        var seen = new TreeSet<String>();
        for (Rule.OfEvents rule : rules.ofEvents()) {
            List<List<Event>> ways = Planted.of(rule, clock);
            for (List<Event> way : ways.subList(0, Math.min(2, ways.size()))) {
                for (Event event : way) {
                    long index = run.add(event);
                    EventRows.fill(event, row);
                    watch.see(index, row).forEach(match -> seen.add(line(match)));
                }
            }
        }
        run.close(0);
        run.table();
        var hunted = new ArrayList<String>();
        try (SqlEngine engine = SqlEngine.open(Recordings.unchecked(run.data), SqlLimits.DEFAULT)) {
            RuleHunt.hunt(engine, rules, List.of(run.run), (_, match) -> hunted.add(line(match)));
        }
        assertEquals(seen, new TreeSet<>(hunted));
        assertEquals(seen.size(), hunted.size(), "each once");
        assertTrue(seen.size() >= rules.rules().size(), seen::toString);
    }

    /// Rules that nobody would write, over events that nobody plants: both find the same.
    @Test
    void madeUpRulesFindTheSameOfMadeUpEvents() throws Exception {
        var random = Seeded.random("made-up-rules");
        RuleSet rules = RuleSet.of(new MadeUpRules(random).rules(300));
        var run = new TestRun(folder.resolve("data"));
        run.open("made up");
        run.seal();
        var watch = new RuleWatch(rules);
        var row = new Row();
        var seen = new ArrayList<String>();
        for (Event event : new MadeUpEvents(random, TestRun.START_NS, run.nextNumber(0)).events(600)) {
            long index = run.add(event);
            EventRows.fill(event, row);
            watch.see(index, row).forEach(match -> seen.add(line(match)));
        }
        run.close(0);
        run.table();
        var hunted = new ArrayList<String>();
        try (SqlEngine engine = SqlEngine.open(Recordings.unchecked(run.data), SqlLimits.DEFAULT)) {
            RuleHunt.hunt(engine, rules, List.of(), (_, match) -> hunted.add(line(match)));
        }
        assertEquals(seen, hunted, "in the same order, too");
        assertTrue(seen.size() > 100, seen::toString);
    }

    /// More processes, and more of their arguments, than anybody remembers: both forget the same.
    @Test
    void whatTheWatchForgetsIsNotKnownToSqlEither() throws Exception {
        RuleSet rules = RuleSet.of(SigmaReader.read("forgotten.yml", """
                title: a child of the first program
                logsource: {product: linux, category: process_creation}
                detection: {child: {ParentImage: /bin/first}, condition: child}
                ---
                title: a file of the first program
                logsource: {product: linux, category: file_access}
                detection: {mine: {Image: /bin/first}, condition: mine}
                """.getBytes(StandardCharsets.UTF_8)));
        var run = new TestRun(folder.resolve("data"));
        run.open("forgotten");
        run.seal();
        var watch = new RuleWatch(rules);
        var seen = new ArrayList<String>();
        var hunted = new ArrayList<String>();
        var fork = new Forks(TestRun.START_NS, run.nextNumber(0));
        for (Event event : fork.events()) {
            long index = run.add(event);
            EventRows.fill(event, fork.row);
            watch.see(index, fork.row).forEach(match -> seen.add(line(match)));
            if (index % 10_000 == 0 || event instanceof Event.ProcessExec) {
                run.seal();
            }
        }
        run.close(0);
        run.table();
        try (SqlEngine engine = SqlEngine.open(Recordings.unchecked(run.data), SqlLimits.DEFAULT)) {
            RuleHunt.hunt(engine, rules, List.of(), (_, match) -> hunted.add(line(match)));
        }
        assertEquals(seen, hunted);
        assertEquals(4, seen.size(), "child and file before, and neither after so many processes, twice");
    }

    /// A first program, its child and its file; then many processes, or few with much to say; then child and file
    /// again, of which nobody knows any more whose they are.
    private static final class Forks {
        private final Row row = new Row();
        private final Planted.EventClock clock;
        private final List<Event> events = new ArrayList<>();
        private int pid = 10;

        Forks(long atNs, long sequence) {
            clock = new Planted.EventClock(atNs, sequence);
        }

        List<Event> events() {
            first();
            for (int i = 0; i < 70_000; i++) {
                events.add(new Event.ProcessFork(clock.of(next(1)), 1L));
            }
            again();
            first();
            Text much = Text.of("x".repeat(60_000));
            for (int i = 0; i < 300; i++) {
                events.add(new Event.ProcessExec(clock.of(next(1)), Text.of("/bin/x"), List.of(much), null, null, 0));
            }
            again();
            return events;
        }

        private ProcessRef first = next(1);

        private ProcessRef next(int parent) {
            pid++;
            return new ProcessRef(pid, pid, parent, pid, Text.of("c"), 1000);
        }

        private void first() {
            first = next(1);
            events.add(new Event.ProcessExec(clock.of(first), Text.of("/bin/first"), null, null, null, 0));
            again();
        }

        private void again() {
            ProcessRef child = next(first.pid());
            events.add(new Event.ProcessExec(clock.of(child), Text.of("/bin/child"), null, null, null, 0));
            events.add(new Event.FileOpen(clock.of(first), Text.of("/f"), 0, null, false, 3));
        }
    }

    private static String line(Match match) {
        return "%08d %s %s".formatted(match.index(), match.rule().about().file(), match.indexes());
    }
}
