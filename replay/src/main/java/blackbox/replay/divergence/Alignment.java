package blackbox.replay.divergence;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The result of comparing two runs.
///
/// @param rules names of the rules without which they would not be equal; [#RULES] says what they mean
/// @param comparedEvents how many events of each side agreed
/// @param recordedEvents how many the recorded side has in all, where a flow that was told of in parts counts once
/// @param actualEvents how many the other side has in all
/// @param firstDivergence null if no effect differs
/// @param differences how many there are, and the first of them
/// @param left how the files compare that both left, or null if that is not known
/// @param notCompared what was not compared, and why, a sentence each
/// @param next commands that show more
public record Alignment(
        Outcome outcome,
        List<String> rules,
        long comparedEvents,
        long recordedEvents,
        long actualEvents,
        @Nullable DivergencePoint firstDivergence,
        Differences differences,
        LeftFiles.@Nullable Result left,
        List<String> notCompared,
        List<String> next) {

    /// The conclusion about the two.
    public enum Outcome {
        /// Equal except for host times.
        IDENTICAL,
        /// Equal under the rules that are named.
        EQUIVALENT,
        /// An effect differs.
        DIVERGED,
        /// They agree up to the end of the shorter record.
        INCOMPLETE
    }

    /// What each rule allows.
    public static final List<String> RULES = List.of(
            "process-numbers: processes and threads have different numbers",
            "made-up-names: names that programs made up for what they created exclusively differ, or times of their own in"
                    + " names of what they created",
            "ephemeral-ports: ports that a kernel chose differ",
            "flows: parts in which the recorder told of a connection are one; what a process sent in datagrams to a peer, and"
                    + " what all of them sent there, is compared in sum",
            "kernel-file-sizes: files in /proc and /sys have different lengths",
            "folded-reads-and-writes: the same reads and writes of a file were reported in different portions",
            "interleaving: threads, processes and flows took turns differently, or threads of a process did each other's share",
            "path: something was looked at more or less often, or at another time, or HTTP requests went over other connections, and no effect differs by it",
            "object-ids: ids of git's objects that are the same but for the second in which each side made them stand for each other",
            "values: times, durations, made-up names or numbers of processes in files that were left or in what was printed, or names of such files, stand for each other, or databases say the same and are laid out otherwise");

    /// What differs.
    ///
    /// @param path how many places differ in the path alone
    /// @param firstPath the first of these, if no event is an effect that differs; else null
    /// @param effects how many effects differ
    /// @param shownEffects the first of these
    public record Differences(
            long path, @Nullable DivergencePoint firstPath, long effects, List<EffectDifference> shownEffects) {
        public Differences {
            shownEffects = List.copyOf(shownEffects);
        }
    }

    public Alignment {
        rules = List.copyOf(rules);
        notCompared = List.copyOf(notCompared);
        next = List.copyOf(next);
    }

    /// The same, with what else was not compared.
    public Alignment with(List<String> more) {
        var all = new ArrayList<>(notCompared);
        all.addAll(more);
        return new Alignment(
                outcome,
                rules,
                comparedEvents,
                recordedEvents,
                actualEvents,
                firstDivergence,
                differences,
                left,
                all,
                next);
    }

    /// The same, if a rule of this name is needed for something else than events.
    public Alignment withRule(String rule) {
        if (outcome == Outcome.DIVERGED || rules.contains(rule)) {
            return this;
        }
        var all = new ArrayList<>(rules);
        all.add(rule);
        return new Alignment(
                outcome == Outcome.IDENTICAL ? Outcome.EQUIVALENT : outcome,
                all,
                comparedEvents,
                recordedEvents,
                actualEvents,
                firstDivergence,
                differences,
                left,
                notCompared,
                next);
    }

    /// The same, with effects that differ beside those that it knows.
    ///
    /// @param first the first divergence of all
    public Alignment with(List<EffectDifference> more, @Nullable DivergencePoint first) {
        var shown = new ArrayList<>(differences.shownEffects());
        shown.addAll(more);
        return new Alignment(
                Outcome.DIVERGED,
                List.of(),
                comparedEvents,
                recordedEvents,
                actualEvents,
                first,
                new Differences(
                        differences.path(), differences.firstPath(), differences.effects() + more.size(), shown),
                left,
                notCompared,
                next);
    }

    /// The first difference, of an effect or of the path alone; null if there is none.
    public @Nullable DivergencePoint firstDifference() {
        return firstDivergence != null ? firstDivergence : differences.firstPath();
    }

    /// Whether the runs are equal in the sense of this comparison.
    public boolean holds() {
        return outcome == Outcome.IDENTICAL || outcome == Outcome.EQUIVALENT;
    }
}
