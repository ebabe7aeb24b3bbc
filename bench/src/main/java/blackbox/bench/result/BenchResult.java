package blackbox.bench.result;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// One figure, its goal, and what was measured beside it in the same run.
///
/// @param note for people: by how much a goal was missed and what limits it, or how to read the figure
public record BenchResult(
        String name,
        double value,
        String unit,
        @Nullable Goal goal,
        @Nullable Beside beside,
        @Nullable String note) {

    /// A peer or a physical limit, in the unit of the result.
    public record Beside(String name, double value) {}

    public BenchResult {
        if (!Double.isFinite(value)) {
            throw new IllegalArgumentException(name + " is " + value + ", which is not a measurement");
        }
    }

    /// A figure without goal or peer.
    public static BenchResult of(String name, double value, String unit) {
        return new BenchResult(name, value, unit, null, null, null);
    }

    public BenchResult withGoal(Goal newGoal) {
        return new BenchResult(name, value, unit, newGoal, beside, note);
    }

    public BenchResult beside(String peer, double peerValue) {
        return new BenchResult(name, value, unit, goal, new Beside(peer, peerValue), note);
    }

    public BenchResult withNote(String newNote) {
        return new BenchResult(name, value, unit, goal, beside, newNote);
    }

    /// Whether the goal is met; without a goal there is nothing to meet.
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
        if (goal != null) {
            line.append(Boolean.TRUE.equals(met()) ? "  met: " : "  MISSED: ").append(goal.text(unit, beside));
        }
        return note == null
                ? line.toString()
                : line.append("\n    ").append(note).toString();
    }
}
