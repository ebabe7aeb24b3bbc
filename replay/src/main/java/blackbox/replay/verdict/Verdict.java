package blackbox.replay.verdict;

import blackbox.evidence.trust.ReplayNote.Outcome;
import blackbox.evidence.trust.ReplayNote.ReplayMethod;
import blackbox.schemas.RunId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The verdict on one replay of a run; its document is specified in `schemas/replay.md`. A verdict cannot
/// claim more than its parts show: that is checked here, once.
///
/// @param at when it was given
/// @param tier how the run was replayed
/// @param refusals why nothing was started, if nothing was
/// @param message what failed, or other remarks; null for none
/// @param kept names the re-execution, if it was kept for landing in; null if not
public record Verdict(
        RunId run,
        Instant at,
        ReplayMethod tier,
        Outcome outcome,
        Comparison comparison,
        List<Refusal> refusals,
        @Nullable String message,
        @Nullable KeptReference kept) {
    public Verdict {
        refusals = List.copyOf(refusals);
        if (kept != null && (tier != ReplayMethod.RERUN || comparison.events() == 0)) {
            throw new IllegalArgumentException("only a re-execution that was compared is kept");
        }
        if ((outcome == Outcome.DIVERGED) != (comparison.firstDivergence() != null)) {
            throw new IllegalArgumentException("a verdict of " + outcome + " and its divergence contradict each other");
        }
        if ((outcome == Outcome.EQUIVALENT) == comparison.rules().isEmpty() && outcome.holds()) {
            throw new IllegalArgumentException(
                    "a verdict that holds is EQUIVALENT if differences were permitted, otherwise IDENTICAL");
        }
        if (outcome.holds() && (!refusals.isEmpty() || comparison.egressPackets() > 0 || comparison.events() == 0)) {
            throw new IllegalArgumentException("only a replay in isolation that compared events can confirm a run");
        }
        if (!outcome.holds() && comparison.levels().equivalence() != null) {
            throw new IllegalArgumentException("a verdict of " + outcome + " confirms no equivalence");
        }
        if (outcome.holds() && comparison.levels().effectDifferences() > 0) {
            throw new IllegalArgumentException("a verdict of " + outcome + " and an effect contradict each other");
        }
        if (outcome == Outcome.ENGINE_FAILED && message == null) {
            throw new IllegalArgumentException("a verdict of ENGINE_FAILED must say what failed");
        }
    }

    /// A verdict on a replay of which nothing is kept.
    public Verdict(
            RunId run,
            Instant at,
            ReplayMethod tier,
            Outcome outcome,
            Comparison comparison,
            List<Refusal> refusals,
            @Nullable String message) {
        this(run, at, tier, outcome, comparison, refusals, message, null);
    }

    /// The same, about a re-execution that was kept.
    public Verdict with(KeptReference execution) {
        return new Verdict(run, at, tier, outcome, comparison, refusals, message, execution);
    }

    /// Nothing was started: inputs are missing or altered.
    public static Verdict refused(RunId run, Instant at, ReplayMethod tier, List<Refusal> refusals) {
        return new Verdict(run, at, tier, Outcome.INCOMPLETE, Comparison.NONE, refusals, null);
    }

    /// The replaying machine failed.
    public static Verdict failed(RunId run, Instant at, ReplayMethod tier, String message) {
        return new Verdict(run, at, tier, Outcome.ENGINE_FAILED, Comparison.NONE, List.of(), message);
    }

    /// A replay came to its end and was compared: the outcome follows from the comparison.
    ///
    /// @param whole whether all of the run was replayed
    public static Verdict of(RunId run, Instant at, ReplayMethod tier, Comparison comparison, Completion whole) {
        Outcome outcome = outcome(comparison, whole);
        Levels levels = comparison.levels();
        return new Verdict(
                run,
                at,
                tier,
                outcome,
                comparison.with(outcome.holds() ? levels : levels.withoutEquivalence()),
                List.of(),
                whole.why());
    }

    /// How far a replay got.
    ///
    /// @param why it did not reach the recording's end; null if it did
    public record Completion(@Nullable String why) {
        /// All of the run was replayed.
        public static final Completion WHOLE = new Completion(null);
    }

    private static Outcome outcome(Comparison comparison, Completion whole) {
        if (comparison.firstDivergence() != null) {
            return Outcome.DIVERGED;
        }
        if (whole.why() != null || comparison.events() == 0 || comparison.egressPackets() > 0) {
            return Outcome.INCOMPLETE;
        }
        return comparison.rules().isEmpty() ? Outcome.IDENTICAL : Outcome.EQUIVALENT;
    }
}
