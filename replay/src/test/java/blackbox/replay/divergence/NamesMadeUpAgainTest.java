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
        compare(deeds, "f", "b").isEqual(6);
        compare(deeds, "f", "backwards").isFound();
    }

    /// Which of the things of that name was left open, or is changed at last, is another matter.
    @Test
    void whatIsMadeUpAgainIsNotWhatWasThereBefore() throws Exception {
        Deeds deeds = (events, shell, order) -> {
            boolean forwards = order.startsWith("f");
            String name = forwards ? "pokpvj" : "HYRmbZ";
            create(events, shell, "/tmp/" + name);
            long early = forwards ? events.write(shell, "/tmp/" + name, 10) : 0;
            events.unlink(shell, "/tmp/" + name);
            create(events, shell, "/tmp/" + name);
            long late = forwards ? early : events.write(shell, "/tmp/" + name, 10);
            events.unlink(shell, "/tmp/" + name);
            return forwards ? early : late;
        };
        Alignment alignment = compare(deeds, "f", "b").alignment();
        assertEquals(Outcome.DIVERGED, alignment.outcome(), alignment::toString);
    }
}
