package blackbox.replay.content;

import java.util.List;

/// How often a value stood for another one.
///
/// @param first the first of them, at most [#SHOWN_MAX]
public record Ties(long count, List<Tie> first) {
    /// How many are shown.
    public static final int SHOWN_MAX = 3;

    /// No value stood for another.
    public static final Ties NONE = new Ties(0, List.of());

    public Ties {
        first = List.copyOf(first);
        if (first.size() != Math.min(count, SHOWN_MAX)) {
            throw new IllegalArgumentException("of " + count + " values " + first.size() + " are shown");
        }
    }
}
