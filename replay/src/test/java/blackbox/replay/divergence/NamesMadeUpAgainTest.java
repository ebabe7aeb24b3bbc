package blackbox.replay.divergence;

import static blackbox.replay.divergence.MadeUpNamesTest.child;
import static blackbox.replay.divergence.MadeUpNamesTest.compare;
import static blackbox.replay.divergence.MadeUpNamesTest.create;
import static blackbox.replay.divergence.MadeUpNamesTest.rename;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.MadeUpNamesTest.Deeds;
import blackbox.replay.divergence.RecordedEvents.Guest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Names that programs make up after they took away what had the same name.
class NamesMadeUpAgainTest {

    /// As Python does, which names the file after an address in its memory: where it has had the same one before,
    /// depends on
    /// what else was in memory.
    @ParameterizedTest
    @CsvSource({
        "904752 904752 904752, 858096 858096 144352",
        "904752 144896 904752, 858096 858240 858384",
        "904752 144896 144896 904752, 858096 858096 858096 144352",
        "904752 904752 904752 904752, 858096 144352 858096 144352"
    })
    void namesThatAreMadeUpAgain(String drawn, String other) throws Exception {
        for (String module : List.of("cli", "module_%d")) {
            Deeds deeds = (events, shell, all) -> {
                int count = 0;
                long last = 0;
                for (String name : all.split(" ")) {
                    String path = "/workspace/p" + count + "/" + module.formatted(count) + ".pyc";
                    create(events, shell, path + "." + name);
                    events.write(shell, path + "." + name, 100 + count++);
                    last = rename(events, shell, path + "." + name, path);
                }
                return last;
            };
            Alignment alignment = compare(deeds, drawn, other).alignment();
            assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
            assertTrue(alignment.rules().contains(MadeUpNamesTest.RULE), alignment::toString);
        }
    }

    /// What still has its name, keeps it.
    @Test
    void namesThatAreMadeUpAgainAreToldApart() throws Exception {
        Deeds deeds = (events, shell, order) -> {
            List<String> names = order.startsWith("f") ? List.of("pokpvj", "tomyWIL") : List.of("HYRmbZ", "tAisBWH");
            for (int i = 0; i < 2; i++) {
                create(events, shell, "/tmp/" + names.getFirst());
                create(events, shell, "/tmp/" + names.getLast());
                events.unlink(shell, "/tmp/" + names.getFirst());
                events.unlink(shell, "/tmp/" + names.getLast());
            }
            create(events, shell, "/tmp/" + names.getFirst());
            create(events, shell, "/tmp/" + names.getLast());
            Guest child = child(events, shell, "/usr/bin/cat", "config");
            long index = events.open(child, "/tmp/" + names.get(order.equals("f") || order.equals("b") ? 0 : 1));
            events.exit(child, 0);
            return index;
        };
        compare(deeds, "f", "b").isEqual(2);
        compare(deeds, "f", "backwards").isFound();
    }

    /// Whoever was told a name did not make it up: of two that were free again, another program got both and creates
    /// them,
    /// the wrong way round.
    @Test
    void namesThatWereGivenInBetweenAreCompared() throws Exception {
        for (int swapped : List.of(0, 1)) {
            Deeds deeds = (events, shell, order) -> {
                boolean forwards = order.equals("f");
                List<String> names = forwards ? List.of("pokpvj", "tomyWIL") : List.of("HYRmbZ", "tAisBWH");
                for (String name : names) {
                    create(events, shell, "/workspace/" + name);
                    events.unlink(shell, "/workspace/" + name);
                }
                Guest tool = child(
                        events,
                        shell,
                        "/usr/bin/tool",
                        "--in=/workspace/" + names.getFirst(),
                        "--out=/workspace/" + names.getLast());
                int first = forwards ? 0 : swapped;
                create(events, tool, "/workspace/" + names.get(first));
                long index = events.write(tool, "/workspace/" + names.get(first), 10);
                create(events, tool, "/workspace/" + names.get(1 - first));
                events.write(tool, "/workspace/" + names.get(1 - first), 20);
                events.exit(tool, 0);
                return index;
            };
            Alignment alignment = compare(deeds, "f", "b").alignment();
            assertEquals(
                    swapped == 0 ? Outcome.EQUIVALENT : Outcome.DIVERGED, alignment.outcome(), alignment::toString);
        }
    }

    /// Processes that were forked from one have the same addresses, and take turns as they like.
    @Test
    void namesOfSeveralProcessesInAnyOrder() throws Exception {
        Deeds deeds = (events, shell, order) -> {
            String name = order.equals("f") ? "904752" : "858096";
            Guest one = child(events, shell, "/usr/bin/python3", "one");
            Guest other = child(events, shell, "/usr/bin/python3", "other");
            create(events, one, "/workspace/a.pyc." + name);
            if (order.equals("f")) {
                rename(events, one, "/workspace/a.pyc." + name, "/workspace/a.pyc");
                create(events, other, "/workspace/b.pyc." + name);
            } else {
                create(events, other, "/workspace/b.pyc." + name);
                rename(events, one, "/workspace/a.pyc." + name, "/workspace/a.pyc");
            }
            long last = rename(events, other, "/workspace/b.pyc." + name, "/workspace/b.pyc");
            events.exit(one, 0);
            events.exit(other, 0);
            return last;
        };
        Alignment alignment = compare(deeds, "f", "b").alignment();
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
    }
}
