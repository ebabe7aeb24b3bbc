package blackbox.rules;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A rule held.
///
/// @param index of the event with which it did
/// @param atNs when that was, nanoseconds since 1970-01-01 UTC
/// @param indexes of all events that it needed, ascending and at most [#INDEXES_MAX], the last of them among them
public record Match(Rule rule, long index, long atNs, List<Long> indexes) {
    public static final int INDEXES_MAX = 64;

    public Match {
        indexes = List.copyOf(indexes);
    }

    /// A rule that holds of an event by itself, with what rules over it ask.
    ///
    /// @param values of [RuleSet#asked], in their order
    public record OfEvent(Rule.OfEvents rule, long index, long atNs, List<@Nullable String> values) {}
}
