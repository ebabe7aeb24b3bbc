package blackbox.replay.verdict;

import blackbox.replay.divergence.Alignment;
import blackbox.replay.divergence.EffectDifference;
import blackbox.replay.output.OutputDifference;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// In what a replay and its recording are equal, or are not.
///
/// @param equivalence in what they are equal; null if they are not, or if that is not known
/// @param pathDifferences how many places differ in the path alone
/// @param firstPath the first of these, if they are equal otherwise; else null
/// @param effectDifferences how many effects differ
/// @param effects the first of these
public record Levels(
        @Nullable Equivalence equivalence,
        long pathDifferences,
        @Nullable FirstDivergence firstPath,
        long effectDifferences,
        List<EffectDifference> effects) {

    /// Nothing is known, as in verdicts of versions 1 and 2.
    public static final Levels UNKNOWN = new Levels(null, 0, null, 0, List.of());

    /// The most effects that a document names.
    public static final int EFFECTS_MAX = 20;

    /// A level of equality.
    public enum Equivalence {
        /// Every event agrees, and all that was compared, octet for octet.
        PATH,
        /// All effects agree; the way to them does not, or values in them stand for others.
        EFFECTS
    }

    public Levels {
        effects = List.copyOf(effects);
        if (pathDifferences < (firstPath == null ? 0 : 1)
                || effectDifferences < effects.size()
                || effects.size() > EFFECTS_MAX) {
            throw new IllegalArgumentException("counts of differences contradict each other");
        }
        if (equivalence != null && effectDifferences > 0 || equivalence == Equivalence.PATH && pathDifferences > 0) {
            throw new IllegalArgumentException("what differs contradicts an equivalence in " + equivalence);
        }
    }

    /// How much was compared beside the events.
    public enum Extent {
        /// Files that were left, and what was printed.
        ALL,
        /// The same, and values in them, or names, stood for others.
        ALL_BUT_VALUES,
        /// Not all of that: it is not known in what the two are equal.
        PART
    }

    /// What an alignment found, and effects beside its events.
    public static Levels of(Alignment.Differences found, List<EffectDifference> more, Extent extent) {
        long count = found.effects() + more.size();
        var effects = new ArrayList<>(found.shownEffects());
        effects.addAll(more);
        return new Levels(
                count > 0 || extent == Extent.PART ? null : equivalence(found, extent),
                found.path(),
                found.firstPath() == null ? null : FirstDivergence.of(found.firstPath()),
                count,
                effects.subList(0, Math.min(EFFECTS_MAX, effects.size())));
    }

    private static Equivalence equivalence(Alignment.Differences found, Extent extent) {
        return found.path() > 0 || extent == Extent.ALL_BUT_VALUES ? Equivalence.EFFECTS : Equivalence.PATH;
    }

    /// The equivalence as in documents, `path` or `effects`, or null.
    public @Nullable String word() {
        return equivalence == null ? null : equivalence.name().toLowerCase(Locale.ROOT);
    }

    /// What was printed, as an effect that differs; empty if it does not.
    public static List<EffectDifference> of(@Nullable OutputDifference output) {
        return output == null
                ? List.of()
                : List.of(new EffectDifference(
                        EffectDifference.Kind.OUTPUT,
                        output.stream().word(),
                        FirstDivergence.printed(output, output.expected()),
                        FirstDivergence.printed(output, output.actual())));
    }

    /// The same counts for a replay of which it is not known whether it is equal.
    Levels withoutEquivalence() {
        return new Levels(null, pathDifferences, firstPath, effectDifferences, effects);
    }
}
