package blackbox.replay.divergence.text;

import java.util.Arrays;

/// The made-up names in one event, as hashes. Immutable.
public final class NamesUsed {

    public static final NamesUsed NONE = new NamesUsed(0, new long[0], 0);

    private final long created;
    private final long[] open;

    /// @param open names whose counterparts are not known; the first `count` of them
    NamesUsed(long created, long[] open, int count) {
        this.created = created;
        this.open = Arrays.copyOf(open, count);
    }

    /// The name that the event created; 0 where it created none that is made up.
    public long created() {
        return created;
    }

    /// How many names in the event's texts have no known counterpart.
    public int openCount() {
        return open.length;
    }

    /// One of these, in the order of the texts.
    public long open(int place) {
        return open[place];
    }
}
