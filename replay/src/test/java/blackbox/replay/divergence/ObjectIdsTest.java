package blackbox.replay.divergence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.PlantedCausesTest.Deeds;
import blackbox.replay.divergence.cause.RunInputs;
import blackbox.replay.divergence.cause.Side;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Ids that are known to stand for each other do so wherever events have them, and no others do.
final class ObjectIdsTest {
    private static final String A = "9f36e0c1d2b3a4958677f0e1d2c3b4a5968778a1";
    private static final String A2 = "9f36e0c2d2b3a4958677f0e1d2c3b4a596877800";
    private static final String B = "e1440a1b2c3d4e5f60718293a4b5c6d7e8f90a11";
    private static final String B2 = "41440a1b2c3d4e5f60718293a4b5c6d7e8f90a22";
    /// Of these, one side's begins with seven digits, and last both sides' do.
    private static final String LETTERS = "f7bd131f9c6bccd265a92a9695f1618ac9478070";

    private static final String DIGITS = "7359427f8dccee8c35e449ee517cf18330b34e8d";
    private static final String DIGITS2 = "0384331f8dccee8c35e449ee517cf18330b34e8d";
    private static final String LETTERS2 = "c406e49f9c6bccd265a92a9695f1618ac9478070";
    private static final String NUMBER = "1234567f9c6bccd265a92a9695f1618ac9478070";
    private static final String NUMBER2 = "7654321f9c6bccd265a92a9695f1618ac9478070";
    private static final Map<String, String> IDS =
            Map.of(A, B, A2, B2, LETTERS, DIGITS, DIGITS2, LETTERS2, NUMBER, NUMBER2);

    private static Alignment align(Deeds recorded, Deeds actual, Map<String, String> ids) throws Exception {
        var one = new RecordedEvents(1).open();
        var other = new RecordedEvents(2).open();
        PlantedCausesTest.shell(one, recorded);
        PlantedCausesTest.shell(other, actual);
        var files = new LeftFiles() {
            @Override
            public Map<String, String> ids() {
                return ids;
            }

            @Override
            public Result compare(StandIns names) {
                return new Result(7, 1_000, 0, List.of(), !ids.isEmpty());
            }
        };
        return Divergences.align(
                new Side("one", one.source(), RunInputs.UNKNOWN),
                new Side("other", other.source(), RunInputs.UNKNOWN),
                files,
                AlignmentSettings.of(3));
    }

    private static Deeds run(String... argv) {
        return (events, shell) -> {
            var child = events.fork(shell, "git");
            long index = events.exec(child, argv);
            events.exit(child, 0);
            return index;
        };
    }

    private static void assertSame(Deeds recorded, Deeds actual) throws Exception {
        Alignment alignment = align(recorded, actual, IDS);
        assertEquals(Outcome.EQUIVALENT, alignment.outcome(), alignment::toString);
        assertEquals(0, alignment.differences().path(), alignment::toString);
        assertTrue(alignment.rules().contains("object-ids"), alignment::toString);
        assertEquals(Outcome.DIVERGED, align(recorded, actual, Map.of()).outcome(), "without ids");
    }

    private static void assertOther(Deeds recorded, Deeds actual) throws Exception {
        Alignment alignment = align(recorded, actual, IDS);
        assertEquals(Outcome.DIVERGED, alignment.outcome(), alignment::toString);
        assertFalse(alignment.rules().contains("object-ids"), alignment::toString);
    }

    @Test
    void anIdInAnArgumentStandsForTheOther() throws Exception {
        assertSame(run("git", "show", A), run("git", "show", B));
        assertSame(run("git", "log", A.substring(0, 8) + ".." + A2), run("git", "log", B.substring(0, 8) + ".." + B2));
        assertSame(run("cp", "x", "v1-" + A.substring(0, 9)), run("cp", "x", "v1-" + B.substring(0, 9)));
    }

    @Test
    void anIdInTheNameOfAVariableStandsForTheOther() throws Exception {
        assertSame(withVariable("GITHEAD_" + A), withVariable("GITHEAD_" + B));
        assertOther(withVariable("GITHEAD_" + A), withVariable("GITHEAD_" + B2));
        assertOther(withVariable("GITHEAD_" + A), withVariable("OTHERHEAD_" + B));
        assertOther(withVariable("GITHEAD_" + A), withVariable("GITHEAD_X" + B));
    }

    private static Deeds withVariable(String name) {
        return (events, shell) -> {
            var child = events.fork(shell, "git");
            long index = events.exec(child, List.of("HOME", name), "git", "merge");
            events.exit(child, 0);
            return index;
        };
    }

    @Test
    void anotherIdIsAnEffect() throws Exception {
        assertOther(run("git", "show", A), run("git", "show", B2));
        assertOther(run("git", "show", A.substring(0, 8)), run("git", "show", B2.substring(0, 8)));
        assertOther(run("git", "show", A.substring(0, 8)), run("git", "show", B.substring(0, 9)));
        assertOther(run("git", "show", A.substring(0, 6)), run("git", "show", B.substring(0, 6)));
        assertOther(run("git", "show", A.substring(0, 7)), run("git", "show", B.substring(0, 7) + "a"));
        assertOther(run("git", "show", A), run("git", "show", A), run("git", "show", B));
        assertOther(run("git", "show", "x" + A), run("git", "show", "x" + B));
        // Two ids begin like that.
        assertOther(run("git", "show", A.substring(0, 7)), run("git", "show", B.substring(0, 7)));
    }

    /// The recorded id where the replay has another one is as wrong as any other.
    private static void assertOther(Deeds recorded, Deeds stale, Deeds right) throws Exception {
        assertSame(recorded, right);
        assertOther(recorded, stale);
    }

    @Test
    void digitsStandForWhatIsNoNumber() throws Exception {
        assertSame(run("git", "show", LETTERS.substring(0, 7)), run("git", "show", DIGITS.substring(0, 7)));
        assertSame(run("git", "show", DIGITS2.substring(0, 7)), run("git", "show", LETTERS2.substring(0, 7)));
        assertOther(run("git", "show", LETTERS.substring(0, 7)), run("git", "show", LETTERS2.substring(0, 7)));
        assertOther(run("git", "show", DIGITS.substring(0, 7)), run("git", "show", DIGITS2.substring(0, 7)));
        assertOther(run("git", "show", LETTERS.substring(0, 7)), run("git", "show", "7359428"));
        assertOther(run("sleep", NUMBER.substring(0, 7)), run("sleep", NUMBER2.substring(0, 7)));
        assertSame(run("git", "show", NUMBER.substring(0, 8)), run("git", "show", NUMBER2.substring(0, 8)));
    }

    @Test
    void anObjectsFileIsInAnotherFolder() throws Exception {
        assertSame(written(A), written(B));
    }

    private static Deeds written(String id) {
        return (events, shell) -> {
            String file = "/dev/shm/r/.git/objects/" + id.substring(0, 2) + "/" + id.substring(2);
            return events.create(shell, file, RecordedEvents.WRITE_CREATE);
        };
    }

    /// Nothing is left out but the folder's name, and only where the rest is the other object's.
    @Test
    void otherFilesInSuchFoldersCount() throws Exception {
        String objects = "/dev/shm/objects/";
        assertSame(created(objects + "9f/tmp_obj_Xyz123"), created(objects + "e1/tmp_obj_Xyz123"));
        assertOther(created(objects + "9f/x"), created(objects + "e1/x"));
        assertOther(created(objects + "9f"), created(objects + "e1"));
        assertOther(created("/dev/shm/o/9f/tmp_obj_Xyz123"), created("/dev/shm/o/e1/tmp_obj_Xyz123"));
        assertOther(created(objects + "9x/tmp_obj_Xyz123"), created(objects + "e1/tmp_obj_Xyz123"));
        assertOther(written(A), written(B2));
        // The file's name is the other object's, but not its folder.
        assertOther(written("00" + A.substring(2)), written(B));
        assertOther(written(A), written("00" + B.substring(2)));
    }

    private static Deeds created(String path) {
        return (events, shell) -> events.create(shell, path, RecordedEvents.WRITE_CREATE);
    }
}
