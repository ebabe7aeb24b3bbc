package blackbox.replay.rerun;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.rerun.BuildSide.AfterMiss;
import blackbox.replay.rerun.PlantedEffects.Effect;
import blackbox.replay.rerun.PlantedPaths.Path;
import blackbox.replay.rerun.RerunComparison.Judged;
import blackbox.replay.verdict.FirstDivergence;
import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.Levels.Equivalence;
import blackbox.replay.verdict.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// One difference at a time, planted by a generator whose seed is printed: each in an effect must be found and named
/// first, each in the path alone must not be taken for one. The verdict is made as that of a real re-execution.
///
/// `-Dblackbox.planted.seed=N` takes another seed, `-Dblackbox.planted.seeds=N` so many from there on.
class PlantedDifferencesTest {
    private static final long SEED = Long.getLong("blackbox.planted.seed", 22);
    private static final long SEEDS = Long.getLong("blackbox.planted.seeds", 1);
    private static final int NAMED_MIN = 57;

    @TempDir
    java.nio.file.Path folder;

    private final List<String> table = new ArrayList<>();

    /// One recording, and what is planted into its replays.
    private record Planted(SmallBuild build, RecordedBuild recorded, Random random, long turns) {}

    private Planted planted(long seed) throws Exception {
        var random = new Random(seed);
        var build = new SmallBuild(random.nextLong());
        long turns = random.nextLong();
        var recorded = new RecordedBuild(folder.resolve("seed" + seed), build, random.nextLong(), turns);
        return new Planted(build, recorded, random, turns);
    }

    @Test
    void withoutADifferenceEveryEventAgrees() throws Exception {
        for (long seed = SEED; seed < SEED + SEEDS; seed++) {
            Planted planted = planted(seed);
            Verdict verdict = planted.recorded()
                    .replay(planted.build(), planted.random().nextLong(), planted.turns(), AfterMiss.END)
                    .verdict();
            assertEquals(Outcome.EQUIVALENT, verdict.outcome(), verdict::toString);
            assertEquals(0, verdict.comparison().levels().pathDifferences(), verdict::toString);
        }
    }

    @Test
    void everyEffectIsFoundAndNamedFirst() throws Exception {
        for (long seed = SEED; seed < SEED + SEEDS; seed++) {
            Planted planted = planted(seed);
            List<Effect> effects = new PlantedEffects(planted.build(), planted.random()).sixty();
            assertEquals(60, effects.size());
            int diverged = 0;
            int named = 0;
            for (Effect effect : effects) {
                Judged judged = planted.recorded()
                        .replay(effect.build(), planted.random().nextLong(), planted.turns(), effect.afterMiss());
                boolean isDiverged = judged.verdict().outcome() == Outcome.DIVERGED;
                boolean isNamed = isDiverged && isNamed(judged.verdict(), effect) && isOfNoWrongClass(judged.verdict());
                diverged += isDiverged ? 1 : 0;
                named += isNamed ? 1 : 0;
                row(effect.what(), isDiverged && isNamed, judged.verdict());
            }
            String all = print(seed, diverged + " of 60 DIVERGED, " + named + " named first");
            assertEquals(60, diverged, all);
            assertTrue(named >= NAMED_MIN, all);
        }
    }

    @Test
    void everyDifferenceOfThePathIsOnlyThat() throws Exception {
        for (long seed = SEED; seed < SEED + SEEDS; seed++) {
            Planted planted = planted(seed);
            List<Path> paths = new PlantedPaths(planted.build(), planted.turns(), planted.random()).forty();
            assertEquals(40, paths.size());
            int right = 0;
            for (Path path : paths) {
                Verdict verdict = planted.recorded()
                        .replay(path.build(), path.numbers(), path.turns(), AfterMiss.END)
                        .verdict();
                Levels levels = verdict.comparison().levels();
                boolean isRight = verdict.outcome() == Outcome.EQUIVALENT
                        && levels.pathDifferences() == path.differences()
                        && (levels.equivalence() == Equivalence.EFFECTS
                                || path.differences() == 0 && levels.equivalence() == Equivalence.PATH);
                right += isRight ? 1 : 0;
                row(path.what(), isRight, verdict);
            }
            String all = print(seed, right + " of 40 EQUIVALENT and counted rightly");
            assertEquals(40, right, all);
        }
    }

    /// Whether the effect comes first, both in the list and as the divergence.
    private static boolean isNamed(Verdict verdict, Effect effect) {
        Levels levels = verdict.comparison().levels();
        FirstDivergence first = verdict.comparison().firstDivergence();
        if (levels.effects().isEmpty() || first == null) {
            return false;
        }
        EffectDifference named = levels.effects().getFirst();
        String said = String.join(" ", named.subject(), named.expected(), named.actual());
        String words = effect.kind() == EffectDifference.Kind.OUTPUT
                ? effect.named()
                        .replace("std", "standard ")
                        .replace("standard err", "standard error")
                        .replace("standard out", "standard output")
                : effect.named();
        return named.kind() == effect.kind()
                && anyIn(said, effect.named())
                && anyIn(first.expected() + " " + first.actual(), words);
    }

    /// Programs of the build read random numbers and the clock, and take turns, and nothing of that made the
    /// difference.
    private static boolean isOfNoWrongClass(Verdict verdict) {
        FirstDivergence first = verdict.comparison().firstDivergence();
        return first != null
                && switch (first.kind()) {
                    case CLOCK, RANDOM, SCHED, IMAGE, SNAPSHOT, ENGINE, RECORDER_GAP -> false;
                    case NET_MISS, NET_DIFF, UNEXPLAINED -> true;
                };
    }

    private static boolean anyIn(String text, String alternatives) {
        return Stream.of(alternatives.split("\\|")).anyMatch(text::contains);
    }

    private void row(String what, boolean right, Verdict verdict) {
        Levels levels = verdict.comparison().levels();
        FirstDivergence first = verdict.comparison().firstDivergence();
        String named = levels.effects().isEmpty()
                ? ""
                : " " + levels.effects().getFirst().kind() + " "
                        + levels.effects().getFirst().subject();
        table.add("%s %-55s %s %s path %d effects %d%s%s"
                .formatted(
                        right ? "  " : "! ",
                        what,
                        verdict.outcome(),
                        levels.word(),
                        levels.pathDifferences(),
                        levels.effectDifferences(),
                        named,
                        first == null ? "" : " | " + first.kind() + ": " + first.expected() + " -> " + first.actual()));
    }

    private String print(long seed, String result) {
        String all = "seed " + seed + ": " + result + "\n" + String.join("\n", table);
        System.out.println(all);
        table.clear();
        return all;
    }
}
