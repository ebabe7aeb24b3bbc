package blackbox.replay.divergence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import blackbox.replay.divergence.Alignment.Outcome;
import blackbox.replay.divergence.SmallProgram.Run;
import blackbox.replay.divergence.SmallProgram.Sort;
import blackbox.replay.divergence.SmallProgram.Step;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/// Programs from seeds, run twice: different numbers and turns are never a divergence, and a planted change is
/// found at its place.
class AlignmentPropertyTest {

    private static final int ROUNDS = 300;

    private static Alignment align(Run recorded, Run actual) throws Exception {
        return Divergences.align(
                recorded.side("one"), actual.side("other"), LeftFiles.UNKNOWN, AlignmentSettings.of(4711));
    }

    @Test
    void differentNumbersAndTurnsAreNoDivergence() throws Exception {
        for (long seed = 0; seed < ROUNDS; seed++) {
            var program = new SmallProgram(seed);
            Run recorded = program.run(seed * 2 + 1);
            Run actual = program.run(seed * 2 + 2);
            Alignment alignment = align(recorded, actual);
            long at = seed;
            assertEquals(Outcome.EQUIVALENT, alignment.outcome(), () -> "seed " + at + ": " + alignment);
        }
    }

    @Test
    void theSameRunIsIdentical() throws Exception {
        for (long seed = 0; seed < 50; seed++) {
            Run run = new SmallProgram(seed).run(seed);
            Alignment alignment = align(run, run);
            assertEquals(Outcome.IDENTICAL, alignment.outcome(), alignment::toString);
            assertEquals(List.of(), alignment.rules());
        }
    }

    @Test
    void aPlantedChangeIsFoundAtItsPlace() throws Exception {
        int planted = 0;
        for (long seed = 0; seed < ROUNDS; seed++) {
            var random = new Random(seed);
            var program = new SmallProgram(seed);
            Step step = program.step(random.nextInt(program.steps()));
            SmallProgram changed = changed(program, step, random.nextInt(3));
            if (changed == null) {
                continue;
            }
            planted++;
            Run recorded = program.run(seed * 2 + 1);
            Alignment alignment = align(recorded, changed.run(seed * 2 + 2));
            DivergencePoint first = alignment.firstDifference();
            long at = seed;
            assertNotNull(first, () -> "seed " + at + ": " + step + " was changed and not found");
            assertEquals(expected(recorded, step), first.index(), () -> "seed " + at + ": " + step + " but " + first);
        }
        assertNotEquals(0, planted);
    }

    /// A different deed, one fewer or one more; null where the step cannot be changed that way.
    private static @Nullable SmallProgram changed(SmallProgram program, Step step, int how) {
        boolean deed = switch (step.sort()) {
            case OPEN, READ, WRITE, UNLINK -> true;
            case EXEC, TEMPORARY, SPAWN, SPAWN_AND_WAIT, WAIT_ALL, EXIT -> false;
        };
        if (step.sort() == Sort.EXEC || step.sort() == Sort.EXIT) {
            return program.with(
                    step.id(),
                    List.of(new Step(step.id(), step.sort(), step.text() + "x", step.number() + 1, List.of())));
        }
        if (!deed) {
            return null;
        }
        var other = new Step(-1, Sort.UNLINK, "/workspace/planted", 0, List.of());
        return switch (how) {
            case 0 -> program.with(step.id(), List.of());
            case 1 -> program.with(step.id(), List.of(other, step));
            default -> program.with(step.id(), List.of(other));
        };
    }

    private static long expected(Run recorded, Step step) {
        Long index = recorded.indexes().get(step.id());
        return index == null ? -1 : index;
    }
}
