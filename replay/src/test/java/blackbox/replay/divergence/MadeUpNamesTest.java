package blackbox.replay.divergence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.RecordedEvents.Guest;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import blackbox.replay.divergence.text.WordSet;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Names that programs make up, and names that they were given: the former stand for each other whatever they look
/// like, the latter are compared.
class MadeUpNamesTest {

    private static final long WRITE_ONLY_EXCLUSIVE = 01 | 0100 | 0200;
    static final String RULE = "made-up-names";

    /// What a side's shell does with a name; returns the index of the event that would be the first divergence.
    @FunctionalInterface
    interface Deeds {
        long run(RecordedEvents events, Guest shell, String name);
    }

    record Compared(Alignment alignment, long index, long actualIndex) {

        void isEqual(int names) {
            assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
            assertTrue(alignment.rules().contains(RULE), alignment::toString);
            String said = "names that stand for each other: " + names + " (";
            assertTrue(alignment.notCompared().toString().contains(said), alignment::toString);
        }

        void isFound() {
            DivergencePoint first = alignment.firstDifference();
            assertNotNull(first, alignment::toString);
            assertEquals(index, first.index(), first::toString);
            assertEquals(actualIndex, first.actualIndex(), first::toString);
        }
    }

    static Compared compare(Deeds recorded, String name, Deeds actual, String actualName) throws Exception {
        var one = new RecordedEvents(1).open();
        var other = new RecordedEvents(2).open();
        long index = shell(one, recorded, name);
        long actualIndex = shell(other, actual, actualName);
        Alignment alignment = Divergences.align(
                new Side("one", one.source(), RunInputs.UNKNOWN),
                new Side("other", other.source(), RunInputs.UNKNOWN),
                LeftFiles.UNKNOWN,
                AlignmentSettings.of(7));
        return new Compared(alignment, index, actualIndex);
    }

    static Compared compare(Deeds deeds, String name, String actualName) throws Exception {
        return compare(deeds, name, deeds, actualName);
    }

    private static long shell(RecordedEvents events, Deeds deeds, String name) {
        Guest shell = events.fork(events.init, "sh");
        events.exec(shell, "/usr/bin/dash", "build.sh");
        long index = deeds.run(events, shell, name);
        events.exit(shell, 0);
        events.close();
        return index;
    }

    static long create(RecordedEvents events, Guest process, String path) {
        return events.create(process, path, RecordedEvents.EXCLUSIVE);
    }

    private static long change(
            RecordedEvents events, Guest process, Kind kind, String path, @Nullable String to, @Nullable Integer mode) {
        return events.add(new Event.FileChange(
                events.guest(process),
                kind,
                Text.of(path),
                to == null ? null : Text.of(to),
                mode,
                null,
                null,
                null,
                0));
    }

    private static long mkdir(RecordedEvents events, Guest process, String path, int mode) {
        return change(events, process, Kind.FILE_MKDIR, path, null, mode);
    }

    static long rename(RecordedEvents events, Guest process, String path, String to) {
        return change(events, process, Kind.FILE_RENAME, path, to, null);
    }

    static Guest child(RecordedEvents events, Guest parent, String... argv) {
        Guest child = events.fork(parent, "tool");
        events.exec(child, argv);
        return child;
    }

    /// A number is a process's only where that explains something: a file that is called 170 on both sides is the same
    /// one, whoever looks at it.
    @ParameterizedTest
    @CsvSource({"170, 170, 171, true", "170, 171, 171, true", "170, 172, 171, false", "171, 170, 171, false"})
    void aNumberThatIsByChanceThatOfAProcess(String name, String actualName, int actualPid, boolean same)
            throws Exception {
        Alignment alignment = Divergences.align(
                new Side("one", ofProcess(1, 170, name).source(), RunInputs.UNKNOWN),
                new Side("other", ofProcess(2, actualPid, actualName).source(), RunInputs.UNKNOWN),
                LeftFiles.UNKNOWN,
                AlignmentSettings.of(7));
        assertEquals(same ? Outcome.EQUIVALENT : Outcome.DIVERGED, alignment.outcome(), alignment::toString);
    }

    private static RecordedEvents ofProcess(long seed, int pid, String name) throws Exception {
        var events = new RecordedEvents(seed).open();
        Guest tool = events.fork(events.init, "sha256sum", pid);
        events.exec(tool, "/usr/bin/sha256sum", "./12", "./" + name, "./9");
        events.exit(tool, 0);
        events.close();
        return events;
    }

    @ParameterizedTest
    @CsvSource({
        "pokpvj, HYRmbZ",
        "tomyWIL, tAisBWH",
        "tmp_obj_hlgtqt, tmp_obj_zWepMZ",
        "31415926, 27182818",
        "7, 8",
        "k, ß",
        "k, kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk",
        "übermut, 漢字",
        "plot, plain",
        "aB-c_dE, xYz",
        "0b1c-22ff-9a, 0b1d-22fe-9b",
        ".npmrc.4d1f, .npmrc.77aa",
        "ccLmNo.ltrans.o, ccPqRs.ltrans.o",
    })
    void whateverItsLetters(String name, String other) throws Exception {
        for (String folder : List.of("/tmp/", "/workspace/project/.git/", "")) {
            Deeds deeds = (events, shell, made) -> {
                create(events, shell, folder + made);
                events.write(shell, folder + made, 12);
                return events.unlink(shell, folder + made);
            };
            compare(deeds, name, other).isEqual(1);
            assertEquals(
                    List.of("process-numbers"),
                    compare(deeds, name, name).alignment().rules());
        }
    }

    @Test
    void aFolderThatOthersWorkIn() throws Exception {
        Deeds deeds = (events, shell, name) -> {
            mkdir(events, shell, "/tmp/" + name, 0700);
            Guest child = child(events, shell, "/usr/bin/tool", "--dir=/tmp/" + name, "-o", name + ".out");
            events.writeFile(child, "/tmp/" + name + "/report", 30);
            events.exit(child, 0);
            events.readFile(shell, "/tmp/" + name + "/report", 30);
            events.unlink(shell, "/tmp/" + name + "/report");
            return change(events, shell, Kind.FILE_RMDIR, "/tmp/" + name, null, null);
        };
        compare(deeds, "tmpqrstuv", "scratch").isEqual(1);
    }

    @Test
    void whatIsDoneInTheFolderIsCompared() throws Exception {
        Deeds deeds = (events, shell, name) -> {
            mkdir(events, shell, "/tmp/" + name, 0700);
            return events.writeFile(shell, "/tmp/" + name + "/report", name.length());
        };
        compare(deeds, "pokpvj", "HYRmbZx").isFound();
    }

    @Test
    void aFileThatIsRenamedIntoPlace() throws Exception {
        Deeds deeds = (events, shell, name) -> {
            create(events, shell, "/workspace/table." + name);
            events.write(shell, "/workspace/table." + name, 100);
            rename(events, shell, "/workspace/table." + name, "/workspace/table");
            return events.open(shell, "/workspace/table");
        };
        compare(deeds, "pokpvj", "HYRmbZ").isEqual(1);
    }

    @Test
    void thePlaceThatItIsRenamedToIsCompared() throws Exception {
        Deeds hashed = (events, shell, name) -> {
            create(events, shell, "/workspace/.git/objects/tmp_obj_" + name);
            return rename(
                    events,
                    shell,
                    "/workspace/.git/objects/tmp_obj_" + name,
                    "/workspace/.git/objects/" + (name.startsWith("p") ? "68/aa01" : "68/aa02"));
        };
        compare(hashed, "pokpvj", "HYRmbZ").isFound();
        Deeds linked = (events, shell, name) -> {
            create(events, shell, "/workspace/tmp_obj_" + name);
            return change(
                    events, shell, Kind.FILE_LINK, "/workspace/tmp_obj_" + name, "/workspace/" + name + ".o", null);
        };
        compare(linked, "pokpvj", "HYRmbZ").isFound();
    }

    @Test
    void aFileThatIsRenamedOverOneWithAMadeUpName() throws Exception {
        Deeds deeds = (events, shell, name) -> {
            create(events, shell, "/tmp/" + name);
            events.writeFile(shell, "/workspace/sorted", 5);
            return rename(events, shell, "/workspace/sorted", "/tmp/" + name);
        };
        compare(deeds, "pokpvj", "HYRmbZ").isEqual(1);
    }

    @Test
    void theLockOfWhatItIsRenamedToIsCompared() throws Exception {
        Deeds deeds = (events, shell, name) -> {
            long index = create(events, shell, "/workspace/.git/refs/" + name + ".lock");
            rename(events, shell, "/workspace/.git/refs/" + name + ".lock", "/workspace/.git/refs/" + name);
            return index;
        };
        compare(deeds, "left", "right").isFound();
    }

    @Test
    void theLockOfAnotherFileIsCompared() throws Exception {
        Deeds deeds = (events, shell, name) -> {
            events.open(shell, "/workspace/.git/index");
            events.open(shell, "/workspace/.git/HEAD");
            long index = create(events, shell, "/workspace/.git/" + name + ".lock");
            events.unlink(shell, "/workspace/.git/" + name + ".lock");
            return index;
        };
        compare(deeds, "index", "HEAD").isFound();
    }

    @Test
    void namesThatBothSidesHaveStandForThemselves() throws Exception {
        Deeds deeds = (events, shell, order) -> {
            List<String> names = order.equals("forwards") ? List.of("index", "HEAD") : List.of("HEAD", "index");
            long index = create(events, shell, "/workspace/" + names.getFirst() + ".lock");
            create(events, shell, "/workspace/" + names.getLast() + ".lock");
            return index;
        };
        compare(deeds, "forwards", "backwards").isFound();
    }

    @Test
    void madeUpNamesThatAreSwapped() throws Exception {
        Deeds deeds = (events, shell, order) -> {
            boolean forwards = order.startsWith("f");
            List<String> names = forwards ? List.of("pokpvj", "tomyWIL") : List.of("HYRmbZ", "tAisBWH");
            create(events, shell, "/tmp/" + names.getFirst());
            create(events, shell, "/tmp/" + names.getLast());
            Guest child = child(events, shell, "/usr/bin/cat", "config");
            long index = events.open(child, "/tmp/" + names.get(forwards ? 0 : 1));
            events.exit(child, 0);
            return index;
        };
        compare(deeds, "f", "b").isFound();
    }

    @Test
    void whatWasWrittenToWhichOfThemIsCompared() throws Exception {
        Deeds deeds = (events, shell, order) -> {
            boolean forwards = order.startsWith("f");
            List<String> names = forwards ? List.of("pokpvj", "tomyWIL") : List.of("HYRmbZ", "tAisBWH");
            create(events, shell, "/tmp/" + names.getFirst());
            create(events, shell, "/tmp/" + names.getLast());
            long index = events.write(shell, "/tmp/" + names.getFirst(), forwards ? 10 : 20);
            events.write(shell, "/tmp/" + names.getLast(), forwards ? 20 : 10);
            return index;
        };
        compare(deeds, "f", "b").isFound();
    }

    @Test
    void writesInDifferentPortionsAreTheSameThereToo() throws Exception {
        Deeds deeds = (events, shell, name) -> {
            create(events, shell, "/tmp/" + name);
            events.add(written(events, shell, "/tmp/" + name, name.equals("pokpvj") ? 4 : 7));
            events.open(shell, "/workspace/other");
            return events.add(written(events, shell, "/tmp/" + name, name.equals("pokpvj") ? 6 : 3));
        };
        Alignment alignment = compare(deeds, "pokpvj", "HYRmbZ").alignment();
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertTrue(alignment.rules().containsAll(List.of(RULE, "folded-reads-and-writes")), alignment::toString);
    }

    private static Event written(RecordedEvents events, Guest process, String path, long bytes) {
        return new Event.FileIo(events.guest(process), Text.of(path), 0, bytes, 0, 1, 0L, bytes, null);
    }

    @Test
    void siblingsThatDoTheSame() throws Exception {
        Deeds deeds = (events, shell, names) -> {
            List<String> made = List.of(names.split("/"));
            for (String name : made) {
                Guest mktemp = child(events, shell, "/usr/bin/mktemp");
                create(events, mktemp, "/tmp/tmp." + name);
                events.exit(mktemp, 0);
            }
            events.write(shell, "/tmp/tmp." + made.getFirst(), 10);
            return events.write(shell, "/tmp/tmp." + made.getLast(), 10);
        };
        compare(deeds, "pokpvj/tomyWIL", "HYRmbZ/tAisBWH").isEqual(2);
        Deeds first = (events, shell, names) -> {
            long last = deeds.run(events, shell, names);
            events.open(shell, "/tmp/tmp." + names.split("/")[names.startsWith("p") ? 0 : 1]);
            return last + 1;
        };
        compare(first, "pokpvj/tomyWIL", "HYRmbZ/tAisBWH").isFound();
    }

    /// A fork that never executes a program is held back until it ends, so that its parent's events are compared
    /// first.
    @Test
    void aSubshellThatExecutesNothing() throws Exception {
        Deeds deeds = (events, shell, name) -> {
            Guest subshell = events.fork(shell, "sh");
            create(events, subshell, "/tmp/" + name);
            events.write(shell, "/tmp/" + name, 4);
            events.unlink(shell, "/tmp/" + name);
            return events.exit(subshell, 0);
        };
        compare(deeds, "pokpvj", "HYRmbZ").isEqual(1);
    }

    @Test
    void threadsThatTakeTurnsDifferently() throws Exception {
        Deeds deeds = (events, shell, turn) -> {
            Guest one = shell.thread(events.newPid());
            Guest two = shell.thread(events.newPid());
            for (Guest each : turn.equals("a") ? List.of(one, two) : List.of(two, one)) {
                String mark = each.equals(one) ? "one" : "two";
                events.open(each, "/workspace/" + mark);
                create(events, each, "/tmp/" + events.newSuffix());
                events.writeFile(each, "/workspace/" + mark + ".out", 3);
            }
            return 0;
        };
        compare(deeds, "a", "b").isEqual(2);
    }

    @Test
    void aNameThatOccurredBefore() throws Exception {
        Deeds argument = (events, shell, name) -> {
            long index = child(events, shell, "/usr/bin/touch", name).pid() * 0L + events.count() - 1;
            create(events, shell, "/workspace/" + name);
            return index;
        };
        compare(argument, "pokpvj", "HYRmbZ").isFound();
        Deeds looked = (events, shell, name) -> {
            long index = events.open(shell, "/workspace/" + name, -2);
            create(events, shell, "/workspace/" + name);
            return index;
        };
        compare(looked, "pokpvj", "HYRmbZ").isFound();
    }

    @Test
    void aNameThatOccurredBeforeOnOneSideOnly() throws Exception {
        Deeds deeds = (events, shell, name) -> {
            events.open(shell, "/workspace/pokpvj");
            events.open(shell, "/workspace/other");
            return create(events, shell, "/tmp/" + name);
        };
        compare(deeds, "pokpvj", "HYRmbZ").isFound();
        compare(deeds, "HYRmbZ", "tAisBWH").isEqual(1);
    }

    @Test
    void aNameThatOccursLaterOnTheOtherSide() throws Exception {
        Deeds deeds = (events, shell, name) -> {
            long index = create(events, shell, "/tmp/" + name);
            events.open(shell, "/workspace/pokpvj");
            return index;
        };
        compare(deeds, "pokpvj", "HYRmbZ").isFound();
    }

    @Test
    void aFileThatIsNotCreatedExclusively() throws Exception {
        Deeds deeds = (events, shell, name) -> events.create(shell, "/tmp/" + name, RecordedEvents.WRITE_CREATE);
        compare(deeds, "pokpvj", "HYRmbZ").isFound();
    }

    /// tar, cp and git's checkout create exclusively, too, under names that they were given.
    @Test
    void whatIsUnpackedIsCompared() throws Exception {
        Deeds file = (events, shell, name) -> events.create(shell, "/workspace/" + name, WRITE_ONLY_EXCLUSIVE);
        compare(file, "left", "right").isFound();
        Deeds folder = (events, shell, name) -> mkdir(events, shell, "/workspace/" + name, 0777);
        compare(folder, "left", "right").isFound();
        Deeds link =
                (events, shell, name) -> change(events, shell, Kind.FILE_SYMLINK, "/workspace/" + name, "target", null);
        compare(link, "left", "right").isFound();
    }

    @Test
    void unlessItsCreatorTakesTheNameAway() throws Exception {
        Deeds file = (events, shell, name) -> {
            events.create(shell, "/cache/" + name, WRITE_ONLY_EXCLUSIVE);
            return rename(events, shell, "/cache/" + name, "/cache/content");
        };
        compare(file, "pokpvj", "HYRmbZ").isEqual(1);
        Deeds link = (events, shell, name) -> {
            change(events, shell, Kind.FILE_SYMLINK, "/workspace/" + name, "target", null);
            return rename(events, shell, "/workspace/" + name, "/workspace/current");
        };
        compare(link, "pokpvj", "HYRmbZ").isEqual(1);
        Deeds byAnother = (events, shell, name) -> {
            Guest tar = child(events, shell, "/usr/bin/tar", "-x");
            long index = events.create(tar, "/workspace/" + name, WRITE_ONLY_EXCLUSIVE);
            events.exit(tar, 0);
            events.unlink(shell, "/workspace/" + name);
            return index;
        };
        compare(byAnother, "left", "right").isFound();
    }

    /// Whether `lock` occurs before `index.lock` is created depends on turns; it does not matter, since both sides
    /// have it.
    @Test
    void namesThatBothSidesHaveInAnyOrder() throws Exception {
        Deeds deeds = (events, shell, turn) -> {
            Guest one = child(events, shell, "/usr/bin/one");
            Guest two = child(events, shell, "/usr/bin/two");
            for (Guest each : turn.equals("a") ? List.of(one, two) : List.of(two, one)) {
                if (each.equals(one)) {
                    create(events, one, "/workspace/index.lock");
                } else {
                    events.open(two, "/workspace/lock/index");
                }
            }
            return create(events, shell, "/tmp/" + events.newSuffix());
        };
        compare(deeds, "a", "b").isEqual(1);
    }

    @Test
    void whatIsOnlyLookedAtIsOfThePathWithOtherNamesToo() throws Exception {
        var runs = new RecordedEvents[2];
        for (int i = 0; i < runs.length; i++) {
            runs[i] = new RecordedEvents(i).open();
            String looked = "number-" + i;
            Deeds deeds = (events, shell, name) -> {
                create(events, shell, "/tmp/" + name);
                Guest child = child(events, shell, "/usr/bin/tool", "/tmp/" + name);
                events.open(child, "/workspace/" + looked);
                return events.exit(child, 0);
            };
            shell(runs[i], deeds, List.of("pokpvj", "HYRmbZ").get(i));
        }
        Alignment alignment = Divergences.align(
                new Side("one", runs[0].source(), RunInputs.UNKNOWN),
                new Side("replay", runs[1].source(), RunInputs.UNKNOWN),
                LeftFiles.UNKNOWN,
                AlignmentSettings.of(3));
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertTrue(alignment.rules().containsAll(List.of(RULE, "path")), alignment::toString);
        assertEquals(1, alignment.differences().path(), alignment::toString);
    }

    /// Many names, from seeds: all of them stand for each other, and a single use of a wrong one is found.
    @Test
    void manyNamesOfEveryLength() throws Exception {
        for (long seed = 0; seed < 40; seed++) {
            var random = new Random(seed);
            int wrong = random.nextInt(300);
            long start = seed * 31;
            Deeds deeds = (events, shell, side) -> {
                var names = new ArrayList<String>();
                var letters = new Random(start + side.hashCode());
                long found = -1;
                for (int i = 0; i < 300; i++) {
                    names.add(name(letters) + side);
                    create(events, shell, "/tmp/" + names.getLast());
                }
                for (int i = 0; i < 300; i++) {
                    boolean other = side.equals("wrong") && i == wrong;
                    long index = events.open(shell, "/tmp/" + names.get(other ? (i + 1) % 300 : i));
                    found = i == wrong ? index : found;
                }
                return found;
            };
            compare(deeds, "one", "two").isEqual(300);
            compare(deeds, "one", "wrong").isFound();
        }
    }

    private static String name(Random random) {
        String letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_üß漢";
        var name = new StringBuilder();
        for (int i = 6 + random.nextInt(20); i > 0; i--) {
            name.append(letters.charAt(random.nextInt(letters.length())));
        }
        return name.toString();
    }

    @Test
    void moreNamesThanAreKeptAtOnce() throws Exception {
        Deeds deeds = (events, shell, side) -> {
            for (int i = 0; i < 150_000; i++) {
                create(events, shell, "/tmp/" + side + i);
                events.unlink(shell, "/tmp/" + side + i);
            }
            return 0;
        };
        compare(deeds, "a", "b").isEqual(150_000);
    }

    @Test
    void wordsBeyondTheBoundCountAsKnown() {
        var words = new WordSet();
        for (int i = 1; i <= WordSet.WORDS_MAX - 1; i++) {
            words.add(i * 0x9E3779B97F4A7C15L);
        }
        assertTrue(words.contains(0x9E3779B97F4A7C15L));
        assertFalse(words.contains(12));
        words.add(13);
        assertTrue(words.isFull());
        assertTrue(words.contains(12));
    }
}
