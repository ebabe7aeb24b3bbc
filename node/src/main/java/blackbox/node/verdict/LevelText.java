package blackbox.node.verdict;

import blackbox.replay.verdict.Levels;
import blackbox.replay.verdict.Levels.Equivalence;

/// A verdict's levels in words, to follow the verdict.
final class LevelText {

    private LevelText() {}

    /// In what a confirmed run is equal, or in how much a replay differs from it; empty if that is not known.
    static String of(Levels levels) {
        String path = levels.pathDifferences() == 0
                ? ""
                : ", the path differs in " + counted(levels.pathDifferences(), "place");
        Equivalence equivalence = levels.equivalence();
        if (equivalence != null) {
            return equivalence == Equivalence.PATH ? " in every event" : " in all effects" + path;
        }
        return levels.effectDifferences() == 0 ? path : " in " + counted(levels.effectDifferences(), "effect") + path;
    }

    private static String counted(long count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }
}
