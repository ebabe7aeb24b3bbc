package blackbox.replay.clock;

import blackbox.replay.divergence.align.Agreements;
import blackbox.replay.divergence.strand.EventCursor;
import blackbox.replay.divergence.strand.EventSource;
import blackbox.schemas.event.Actor;
import blackbox.schemas.event.Kind;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/// What the two guests' clocks showed at the agent's events on which an alignment agrees: at each of them, or where
/// there are too many, at every second, fourth and so on of the recording. Owned by one thread.
public final class SharedTimes implements Agreements {
    private static final int PAIRS_MAX = 1 << 17;
    private static final long NONE = Long.MIN_VALUE;

    private final Agreements also;
    private final int pairsMax;
    private final List<Pair> pairs = new ArrayList<>();
    private long every = 1;

    private record Pair(long recorded, long actual) {}

    /// @param also is told as well
    public SharedTimes(Agreements also) {
        this(also, PAIRS_MAX);
    }

    SharedTimes(Agreements also, int pairsMax) {
        this.also = also;
        this.pairsMax = pairsMax;
    }

    @Override
    public void begin() {
        pairs.clear();
        every = 1;
        also.begin();
    }

    @Override
    public void agree(long recorded, long actual) {
        also.agree(recorded, actual);
        if (recorded % every != 0) {
            return;
        }
        pairs.add(new Pair(recorded, actual));
        while (pairs.size() > pairsMax) {
            every *= 2;
            pairs.removeIf(pair -> pair.recorded() % every != 0);
        }
    }

    /// When both sides did the same.
    public SharedTimeline timeline(EventSource recorded, EventSource actual) throws IOException {
        pairs.sort(Comparator.comparingLong(Pair::recorded));
        long[] before = times(recorded, pairs.stream().mapToLong(Pair::recorded).toArray());
        Integer[] order = new Integer[pairs.size()];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, Comparator.comparingLong(i -> pairs.get(i).actual()));
        long[] after = times(
                actual,
                Arrays.stream(order).mapToLong(i -> pairs.get(i).actual()).toArray());
        var shared = new ArrayList<SharedTimeline.Place>();
        for (int i = 0; i < order.length; i++) {
            long then = before[order[i]];
            if (then != NONE && after[i] != NONE) {
                shared.add(new SharedTimeline.Place(then, after[i]));
            }
        }
        return new SharedTimeline(shared);
    }

    /// When these events were, as far as they are the agent's.
    ///
    /// @param indexes in ascending order
    private static long[] times(EventSource source, long[] indexes) throws IOException {
        var times = new long[indexes.length];
        Arrays.fill(times, NONE);
        int at = 0;
        try (EventCursor cursor = source.open(0)) {
            while (at < indexes.length && cursor.next()) {
                if (cursor.index() == indexes[at]) {
                    times[at++] = isTimed(cursor.row()) ? cursor.row().number(Column.AT_NS) : NONE;
                }
            }
        }
        return times;
    }

    /// Whether its time is that of a deed of the agent's: sums of reads, writes and datagrams are reported later.
    static boolean isTimed(Row row) {
        long kind = row.number(Column.KIND);
        return kind != Kind.FILE_IO.code()
                && kind != Kind.NET_FLOW.code()
                && row.has(Column.CPU_SEQ)
                && row.has(Column.ACTOR)
                && row.text(Column.ACTOR).toString().equals(Actor.AGENT.actorName());
    }
}
