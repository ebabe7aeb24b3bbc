package blackbox.bench.result;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One figure, its goal, and what was measured beside it in the same run.
///
/// @param alone why there is nothing beside it: no peer or physical limit says anything about this figure
/// @param note for people: by how much a goal was missed and what limits it, or how to read the figure
public record BenchResult(
        String name,
        double value,
        String unit,
        @Nullable Goal goal,
        @Nullable Beside beside,
        @Nullable String alone,
        @Nullable String note) {

    /// A peer or a physical limit, in the unit of the result.
    public record Beside(String name, double value) {}

    public BenchResult {
        if (!Double.isFinite(value)) {
            throw new IllegalArgumentException(name + " is " + value + ", which is not a measurement");
        }
        if (beside != null && alone != null) {
            throw new IllegalArgumentException(name + " has a peer and also a reason for having none");
        }
    }

    /// A figure without goal or peer.
    public static BenchResult of(String name, double value, String unit) {
        return new BenchResult(name, value, unit, null, null, null, null);
    }

    public BenchResult withGoal(Goal newGoal) {
        return new BenchResult(name, value, unit, newGoal, beside, alone, note);
    }

    public BenchResult beside(String peer, double peerValue) {
        return new BenchResult(name, value, unit, goal, new Beside(peer, peerValue), alone, note);
    }

    public BenchResult alone(String reason) {
        return new BenchResult(name, value, unit, goal, beside, reason, note);
    }

    public BenchResult withNote(String newNote) {
        return new BenchResult(name, value, unit, goal, beside, alone, newNote);
    }

    /// Whether the goal is met; null without a goal.
    @Nullable
    public Boolean met() {
        return goal == null ? null : goal.isMetBy(value, beside);
    }

    /// One line for the terminal.
    public String line() {
        var line = new StringBuilder(String.format(Locale.ROOT, "%-22s %14s %s", name, Goal.number(value), unit));
        if (beside != null) {
            line.append(String.format(
                    Locale.ROOT,
                    "  (%.2f × %s: %s)",
                    value / beside.value(),
                    beside.name(),
                    Goal.number(beside.value())));
        }
        if (alone != null) {
            line.append("  (alone: ").append(alone).append(')');
        }
        if (goal != null) {
            line.append(Boolean.TRUE.equals(met()) ? "  met: " : "  MISSED: ").append(goal.text(unit, beside));
        }
        return note == null
                ? line.toString()
                : line.append("\n    ").append(note).toString();
    }
}
