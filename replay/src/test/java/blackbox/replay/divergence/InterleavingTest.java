package blackbox.replay.divergence;

import static blackbox.replay.divergence.PlantedCausesTest.plant;
import static org.junit.jupiter.api.Assertions.assertEquals;

import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.PlantedCausesTest.Deeds;
import blackbox.replay.divergence.RecordedEvents.Guest;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What is done in a different order or by another thread of the process is no divergence, where order does not
/// matter.
class InterleavingTest {

    @Test
    void workThatThreadsShareDifferently() throws Exception {
        Deeds recorded = (events, shell) -> shared(events, shell, List.of(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1));
        Deeds actual = (events, shell) -> shared(events, shell, List.of(0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1));
        Alignment alignment = plant(recorded, actual).alignment();
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertEquals(List.of("process-numbers", "interleaving"), alignment.rules());
    }

    /// Twelve jobs; the ninth is the first that another thread takes.
    private static long shared(RecordedEvents events, Guest shell, List<Integer> who) {
        List<Guest> threads = List.of(shell.thread(events.newPid()), shell.thread(events.newPid()));
        long index = 0;
        for (int job = 0; job < who.size(); job++) {
            long at = events.open(threads.get(who.get(job)), "/workspace/job" + job);
            index = job == (who.get(8) == 0 ? 8 : 9) ? at : index;
        }
        return index;
    }

    /// Which completion an event loop sees first.
    @Test
    void readsInAnotherOrderAreNoDivergence() throws Exception {
        Alignment alignment = plant(reads("a", "b", "c"), reads("b", "c", "a")).alignment();
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertEquals(List.of("process-numbers", "interleaving"), alignment.rules());
    }

    private static Deeds reads(String... names) {
        return (events, shell) -> {
            for (String name : names) {
                events.open(shell, "/workspace/" + name);
            }
            return 0;
        };
    }

    /// Made by one thread, on whose order a reader could rely.
    @Test
    void changesInAnotherOrderAreADivergence() throws Exception {
        assertEquals(
                Outcome.DIVERGED,
                plant(creates("a", "b"), creates("b", "a")).alignment().outcome());
    }

    private static Deeds creates(String... names) {
        return (events, shell) -> {
            long index = 0;
            for (String name : names) {
                index = events.create(shell, "/workspace/" + name, RecordedEvents.WRITE_CREATE);
            }
            return index;
        };
    }

    /// After two renames to one name, the file is the one that was renamed last. Each is by a thread that is
    /// identified by what it did before.
    @Test
    void renamesInAnotherOrderAreADivergence() throws Exception {
        assertEquals(
                Outcome.DIVERGED,
                plant(renames("a", "b"), renames("b", "a")).alignment().outcome());
    }

    private static Deeds renames(String... names) {
        return (events, shell) -> {
            long index = 0;
            for (int i = 0; i < names.length; i++) {
                Guest thread = known(events, shell, "worker" + i);
                index = MadeUpNamesTest.rename(events, thread, "/workspace/" + names[i], "/workspace/out");
            }
            return index;
        };
    }

    private static Guest known(RecordedEvents events, Guest shell, String name) {
        Guest thread = shell.thread(events.newPid());
        for (int i = 0; i < 4; i++) {
            events.open(thread, "/workspace/" + name + "-" + i);
        }
        return thread;
    }

    /// As when the threads of a pool take the next file to write.
    @Test
    void filesThatThreadsWriteInADifferentOrderAreNoDivergence() throws Exception {
        Alignment alignment =
                plant(pool("a", "b", "c", "d"), pool("b", "a", "d", "c")).alignment();
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertEquals(
                Outcome.DIVERGED,
                plant(pool("a", "b"), pool("a", "c")).alignment().outcome());
    }

    private static Deeds pool(String... names) {
        return (events, shell) -> {
            List<Guest> threads = List.of(shell.thread(events.newPid()), shell.thread(events.newPid()));
            long index = 0;
            for (int i = 0; i < names.length; i++) {
                Guest thread = threads.get(i % 2);
                index = events.create(thread, "/workspace/" + names[i], RecordedEvents.WRITE_CREATE);
                events.write(thread, "/workspace/" + names[i], names[i].charAt(0));
            }
            return index;
        };
    }

    /// The file ends with what came last.
    @Test
    void octetsThatTwoThreadsWriteToOneFileInAnotherOrderAreADivergence() throws Exception {
        assertEquals(
                Outcome.DIVERGED,
                plant(appends(10, 20), appends(20, 10)).alignment().outcome());
    }

    private static Deeds appends(int first, int second) {
        return (events, shell) -> {
            long index = events.create(shell, "/workspace/log", RecordedEvents.WRITE_CREATE);
            events.write(known(events, shell, "one"), "/workspace/log", first);
            events.write(known(events, shell, "two"), "/workspace/log", second);
            return index;
        };
    }

    /// Two subshells of one shell: which of them forks its first child first is chance, and when they were forked is
    /// not. `writers` do their work in that order.
    private static Deeds subshells(String first, String second, int... writers) {
        return (events, shell) -> {
            var names = List.of(first, second);
            var both = List.of(events.fork(shell, "bash"), events.fork(shell, "bash"));
            long index = 0;
            for (int writer : writers) {
                Guest child = events.fork(both.get(writer), "bash");
                events.exec(child, "/bin/true", names.get(writer));
                events.exit(child, 0);
            }
            for (int writer : writers) {
                index = events.writeFile(both.get(writer), "/workspace/" + names.get(writer), 5);
                events.exit(both.get(writer), 0);
            }
            return index;
        };
    }

    @Test
    void subshellsThatTakeTurnsOtherwiseAreTheSame() throws Exception {
        Alignment alignment =
                plant(subshells("a", "b", 0, 1), subshells("a", "b", 1, 0)).alignment();
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
    }

    /// What was done by the first is done by the second.
    @Test
    void subshellsThatSwapTheirWorkAreNot() throws Exception {
        assertEquals(
                Outcome.DIVERGED,
                plant(subshells("a", "b", 0, 1), subshells("b", "a", 0, 1))
                        .alignment()
                        .outcome());
    }

    /// Neither has a child: the order of their ends is chance, too.
    @Test
    void subshellsThatEndInAnotherOrderAreTheSame() throws Exception {
        Alignment alignment = plant(workers(0, 1, 2), workers(2, 0, 1)).alignment();
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
    }

    private static Deeds workers(int... turns) {
        return (events, shell) -> {
            var all = List.of(events.fork(shell, "bash"), events.fork(shell, "bash"), events.fork(shell, "bash"));
            long index = 0;
            for (int turn : turns) {
                index = events.writeFile(all.get(turn), "/workspace/w" + turn, 10 + turn);
                events.exit(all.get(turn), turn);
            }
            return index;
        };
    }
}
