package blackbox.replay.divergence.strand;

import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Column;
import blackbox.schemas.row.Row;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Two sides' events in which timing alone does not decide how many flows there are. The recorder tells of a flow in
/// parts when it was quiet for a minute, and takes two sockets of which the kernel drew the same port for one.
///
/// Of a connection, the parts are one: the second beginning is left out, and what was counted is told at its end.
/// Datagrams to a peer are left out on both sides where their octets agree in sum and the number of flows does not.
/// All else stays as it is, and so does every index.
public final class WholeFlows {
    /// Connections that are watched at once, peers that datagrams are counted for, and parts that are joined; what is
    /// beyond is compared as it was told.
    private static final int HELD_MAX = 65_536;

    private final Reading recorded;
    private final Reading actual;

    private WholeFlows(Reading recorded, Reading actual) {
        this.recorded = recorded;
        this.actual = actual;
    }

    /// Reads both sides once.
    public static WholeFlows of(EventSource recorded, EventSource actual) throws IOException {
        Reading one = Reading.of(recorded);
        Reading other = Reading.of(actual);
        one.leaveOut(other);
        return new WholeFlows(one, other);
    }

    /// Whether anything is told otherwise than it was recorded.
    public boolean differ() {
        return !recorded.isUnchanged() || !actual.isUnchanged();
    }

    /// The recorded side's events.
    public EventSource recorded(EventSource events) {
        return recorded.over(events);
    }

    /// The other side's events.
    public EventSource actual(EventSource events) {
        return actual.over(events);
    }

    private record Peer(boolean guest, String ip, long port) {
        static Peer of(Row row) {
            return new Peer(isByGuest(row), text(row, Column.REMOTE_IP), number(row, Column.REMOTE_PORT));
        }
    }

    private record Ends(String ip, long port, Peer peer) {
        static Ends of(Row row) {
            return new Ends(text(row, Column.LOCAL_IP), number(row, Column.LOCAL_PORT), Peer.of(row));
        }
    }

    /// Octets, and how many flows they belong to.
    private record Sum(long out, long in, long flows) {
        static final Sum NONE = new Sum(0, 0, 0);

        Sum with(Row row) {
            return new Sum(
                    out + number(row, Column.BYTES_OUT),
                    in + number(row, Column.BYTES_IN),
                    begins(row) ? flows : flows + 1);
        }

        boolean isOtherwiseDivided(Sum other) {
            return flows != other.flows && out == other.out && in == other.in;
        }
    }

    /// What a connection had when it was last told of, and by which event.
    private record Quiet(long index, Sum sum) {}

    private static final class Reading {
        /// By index: what a connection had at its end, or null where its event is left out.
        private final Map<Long, @Nullable Sum> changed = new HashMap<>();

        private final Map<Peer, Sum> datagrams = new HashMap<>();
        private final Map<Ends, Quiet> quiet = new LinkedHashMap<>();
        private final Map<Ends, Sum> continued = new HashMap<>();

        static Reading of(EventSource events) throws IOException {
            var reading = new Reading();
            try (EventCursor cursor = events.open(0)) {
                while (cursor.next()) {
                    reading.add(cursor.row(), cursor.index());
                }
            }
            reading.quiet.clear();
            reading.continued.clear();
            return reading;
        }

        private void add(Row row, long index) {
            if (!isFlow(row)) {
                return;
            }
            if (isDatagrams(row)) {
                Peer peer = Peer.of(row);
                if (datagrams.size() < HELD_MAX || datagrams.containsKey(peer)) {
                    datagrams.merge(peer, Sum.NONE.with(row), (one, _) -> one.with(row));
                }
            } else if (!isByGuest(row)) {
                connection(row, index);
            }
        }

        private void connection(Row row, long index) {
            Ends ends = Ends.of(row);
            if (begins(row)) {
                Quiet before = quiet.remove(ends);
                if (before != null && changed.size() < HELD_MAX) {
                    changed.put(before.index, null);
                    changed.put(index, null);
                    continued.put(ends, before.sum);
                }
                return;
            }
            Sum before = continued.remove(ends);
            Sum sum = (before == null ? Sum.NONE : before).with(row);
            if (before != null) {
                changed.put(index, sum);
            }
            if (mayContinue(row) && quiet.size() < HELD_MAX) {
                quiet.put(ends, new Quiet(index, sum));
            }
        }

        /// Keeps what both sides leave out of their datagrams.
        void leaveOut(Reading other) {
            datagrams
                    .entrySet()
                    .removeIf(each -> !each.getValue()
                            .isOtherwiseDivided(other.datagrams.getOrDefault(each.getKey(), each.getValue())));
            other.datagrams.keySet().retainAll(datagrams.keySet());
        }

        boolean isUnchanged() {
            return changed.isEmpty() && datagrams.isEmpty();
        }

        EventSource over(EventSource events) {
            return isUnchanged() ? events : from -> new Cursor(events.open(from), this);
        }

        /// Whether the event stays; its octets are those of the whole flow then.
        boolean keeps(Row row, long index) {
            if (!isFlow(row)) {
                return true;
            }
            if (isDatagrams(row)) {
                return !datagrams.containsKey(Peer.of(row));
            }
            Sum sum = changed.get(index);
            if (sum == null) {
                return !changed.containsKey(index);
            }
            if (row.has(Column.BYTES_OUT)) {
                row.set(Column.BYTES_OUT, sum.out);
            }
            if (row.has(Column.BYTES_IN)) {
                row.set(Column.BYTES_IN, sum.in);
            }
            return true;
        }
    }

    private record Cursor(EventCursor events, Reading reading) implements EventCursor {
        @Override
        public boolean next() throws IOException {
            while (events.next()) {
                if (reading.keeps(events.row(), events.index())) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public long index() {
            return events.index();
        }

        @Override
        public Row row() {
            return events.row();
        }

        @Override
        public void close() throws IOException {
            events.close();
        }
    }

    private static boolean isFlow(Row row) {
        return row.has(Column.KIND) && row.number(Column.KIND) == Kind.NET_FLOW.code();
    }

    private static boolean isByGuest(Row row) {
        return number(row, Column.SOURCE) == Source.GUEST.code();
    }

    private static boolean isDatagrams(Row row) {
        return text(row, Column.PROTOCOL).equals("udp");
    }

    private static boolean begins(Row row) {
        return !isByGuest(row) && text(row, Column.WHAT).equals("open");
    }

    private static boolean mayContinue(Row row) {
        String what = text(row, Column.WHAT);
        return what.equals("idle") || what.equals("evicted");
    }

    private static String text(Row row, Column column) {
        return row.has(column) ? row.text(column).toString() : "";
    }

    private static long number(Row row, Column column) {
        return row.has(column) ? row.number(column) : 0;
    }
}
