package blackbox.evidence.anchor;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// All of a run's events up to one, and the latest moment at which they can have been recorded.
///
/// @param throughIndex the last event that is covered
public record AnchoredRange(long throughIndex, Instant notLaterThan, List<String> by, Anchor.Kind kind) {

    public AnchoredRange {
        by = List.copyOf(by);
    }

    /// A checkpoint of the run's own tree that is in the log of runs.
    ///
    /// @param logIndex its leaf's index there
    /// @param events how many of the run's events it covers
    public record Logged(long logIndex, long events) {}

    /// The ranges of a run that `anchors` cover: for each kind, those that cover something which no earlier
    /// anchor of that kind covers, ordered by time.
    public static List<AnchoredRange> of(List<Anchor> anchors, List<Logged> checkpoints) {
        var ranges = new ArrayList<AnchoredRange>();
        for (Anchor.Kind kind : Anchor.Kind.values()) {
            long covered = 0;
            for (Anchor anchor : inOrder(anchors, kind)) {
                long events = eventsBelow(anchor.checkpoint().size(), checkpoints);
                if (events > covered) {
                    ranges.add(new AnchoredRange(events - 1, anchor.notLaterThan(), anchor.by(), kind));
                    covered = events;
                }
            }
        }
        ranges.sort(Comparator.comparing(AnchoredRange::notLaterThan));
        return ranges;
    }

    private static List<Anchor> inOrder(List<Anchor> anchors, Anchor.Kind kind) {
        return anchors.stream()
                .filter(anchor -> anchor.kind() == kind)
                .sorted(Comparator.comparing(Anchor::notLaterThan))
                .toList();
    }

    private static long eventsBelow(long logSize, List<Logged> checkpoints) {
        return checkpoints.stream()
                .filter(logged -> logged.logIndex() < logSize)
                .mapToLong(Logged::events)
                .max()
                .orElse(0);
    }

    /// How many events, from the first on, are covered by some range.
    public static long coveredEvents(List<AnchoredRange> ranges) {
        return ranges.stream()
                .mapToLong(range -> range.throughIndex() + 1)
                .max()
                .orElse(0);
    }
}
