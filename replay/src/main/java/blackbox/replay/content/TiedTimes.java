package blackbox.replay.content;

import java.util.List;

/// How often a time stood for another one.
///
/// @param first the first of them, at most [#SHOWN_MAX]
public record TiedTimes(long count, List<TiedTime> first) {
    /// How many are shown.
    public static final int SHOWN_MAX = 3;

    /// No time stood for another: what was compared is equal as far as it was compared.
    public static final TiedTimes NONE = new TiedTimes(0, List.of());

    public TiedTimes {
        first = List.copyOf(first);
        if (first.size() != Math.min(count, SHOWN_MAX)) {
            throw new IllegalArgumentException("of " + count + " times " + first.size() + " are shown");
        }
    }
}
