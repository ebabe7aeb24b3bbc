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
/// parts when it was quiet for a minute, the tracer after five seconds, and the recorder takes two sockets of which the
/// kernel drew the same port for one.
///
/// - Of a connection, the parts that the host told of are one: the later beginnings are left out, and what was counted
///   is told at its end.
/// - What the guest told of a process's datagrams to one peer is told once, by the last of these events.
/// - The host's flows of datagrams to a peer are left out on both sides where their octets agree in sum.
/// - What came back from a resolver is not counted: answers may come when nobody waits for them any more. What was
///   answered is an event of its own.
///
/// All else stays as it is, and so does every index.
public final class WholeFlows {
    /// What no longer tells the sides apart, in words.
    public static final String NOT_COMPARED = "octets that came back from resolvers, but for what they answered";

    /// Flows that are watched at once, peers that datagrams are counted for, and events that are left out; what is
    /// beyond is compared as it was told.
    private static final int HELD_MAX = 65_536;

    private static final int DNS_PORT = 53;

    private final Reading recorded;
    private final Reading actual;
    private final boolean differ;

    private WholeFlows(Reading recorded, Reading actual, boolean differ) {
        this.recorded = recorded;
        this.actual = actual;
        this.differ = differ;
    }

    /// Reads both sides once.
    public static WholeFlows of(EventSource recorded, EventSource actual) throws IOException {
        Reading one = Reading.of(recorded);
        Reading other = Reading.of(actual);
        boolean otherwise = one.leaveOutAgreed(other);
        return new WholeFlows(one, other, otherwise || one.leftOut != other.leftOut);
    }

    /// Whether the sides divide the same into other flows.
    public boolean differ() {
        return differ;
    }

    /// The recorded side's events.
    public EventSource recorded(EventSource events) {
        return events.through(recorded::keeps);
    }

    /// The other side's events.
    public EventSource actual(EventSource events) {
        return events.through(actual::keeps);
    }

    private record Peer(String ip, long port) {
        static Peer of(Row row) {
            return new Peer(text(row, Column.REMOTE_IP), number(row, Column.REMOTE_PORT));
        }
    }

    private record Connection(String ip, long port, Peer peer) {
        static Connection of(Row row) {
            return new Connection(text(row, Column.LOCAL_IP), number(row, Column.LOCAL_PORT), Peer.of(row));
        }
    }

    private record OfProcess(long pid, long startNs, Peer peer) {
        static OfProcess of(Row row) {
            return new OfProcess(number(row, Column.PID), number(row, Column.START_NS), Peer.of(row));
        }
    }

    /// What flows carried.
    ///
    /// @param flows how many there were, and which, in no order
    private record Sum(long out, long in, long flows) {
        static final Sum NONE = new Sum(0, 0, 0);

        Sum with(Row row) {
            return new Sum(
                    out + number(row, Column.BYTES_OUT),
                    in + (isOfResolver(row) ? 0 : number(row, Column.BYTES_IN)),
                    flows + shape(number(row, Column.BYTES_OUT)));
        }

        boolean agrees(Sum other) {
            return out == other.out && in == other.in;
        }
    }

    /// A flow so far.
    ///
    /// @param index of the event that told of it last
    private record Told(long index, Sum sum) {
        Told with(Row row, long later) {
            return new Told(later, sum.with(row));
        }
    }

    private static final class Reading {
        /// By index: the whole flow where its last event is, null where an event is left out.
        private final Map<Long, @Nullable Told> changed = new HashMap<>();

        private final Map<Peer, Sum> datagrams = new HashMap<>();
        private final Map<OfProcess, Told> ofProcesses = new HashMap<>();
        private final Map<Connection, Told> quiet = new LinkedHashMap<>();
        private final Map<Connection, Told> continued = new HashMap<>();

        /// Which events are left out, in no order.
        private long leftOut;

        static Reading of(EventSource events) throws IOException {
            var reading = new Reading();
            try (EventCursor cursor = events.open(0)) {
                while (cursor.next()) {
                    if (isFlow(cursor.row())) {
                        reading.add(cursor.row(), cursor.index());
                    }
                }
            }
            // What the record does not tell the end of is known up to there.
            reading.continued.values().forEach(each -> reading.changed.put(each.index, each));
            reading.continued.clear();
            reading.quiet.clear();
            reading.ofProcesses.clear();
            return reading;
        }

        private void add(Row row, long index) {
            boolean datagram = isDatagrams(row);
            if (isByGuest(row)) {
                if (datagram) {
                    ofProcess(row, index);
                }
            } else if (!datagram) {
                connection(row, index);
            } else if (!begins(row)) {
                Peer peer = Peer.of(row);
                if (datagrams.size() < HELD_MAX || datagrams.containsKey(peer)) {
                    datagrams.merge(peer, Sum.NONE.with(row), (sum, _) -> sum.with(row));
                }
            }
        }

        private void ofProcess(Row row, long index) {
            OfProcess key = OfProcess.of(row);
            Told before = ofProcesses.get(key);
            if (before == null) {
                if (ofProcesses.size() < HELD_MAX) {
                    ofProcesses.put(key, new Told(index, Sum.NONE.with(row)));
                }
            } else if (changed.size() < HELD_MAX) {
                Told whole = before.with(row, index);
                leaveOut(before.index, shape(number(row, Column.BYTES_OUT)));
                changed.put(index, whole);
                ofProcesses.put(key, whole);
            }
        }

        private void connection(Row row, long index) {
            Connection ends = Connection.of(row);
            if (begins(row)) {
                Told before = quiet.remove(ends);
                if (before != null && changed.size() < HELD_MAX) {
                    leaveOut(before.index, shape(before.sum.out));
                    leaveOut(index, 0);
                    continued.put(ends, before);
                }
                return;
            }
            Told before = continued.remove(ends);
            Told whole = before == null ? new Told(index, Sum.NONE.with(row)) : before.with(row, index);
            if (before != null) {
                changed.put(index, whole);
            }
            if (mayContinue(row)) {
                if (quiet.size() >= HELD_MAX) {
                    quiet.remove(quiet.keySet().iterator().next());
                }
                quiet.put(ends, whole);
            }
        }

        private void leaveOut(long index, long shape) {
            changed.put(index, null);
            leftOut += shape;
        }

        /// Keeps the peers whose datagrams agree in sum, which both sides leave out; whether they are divided
        /// otherwise.
        boolean leaveOutAgreed(Reading other) {
            boolean otherwise = false;
            for (var each = datagrams.entrySet().iterator(); each.hasNext(); ) {
                Map.Entry<Peer, Sum> mine = each.next();
                Sum theirs = other.datagrams.get(mine.getKey());
                if (theirs == null || !mine.getValue().agrees(theirs)) {
                    each.remove();
                } else {
                    otherwise |= mine.getValue().flows != theirs.flows;
                }
            }
            other.datagrams.keySet().retainAll(datagrams.keySet());
            return otherwise;
        }

        /// Whether the event stays; it tells of the whole flow then.
        boolean keeps(Row row, long index) {
            if (!isFlow(row)) {
                return true;
            }
            if (isDatagrams(row) && !isByGuest(row) && datagrams.containsKey(Peer.of(row))) {
                return false;
            }
            Told whole = changed.get(index);
            if (whole == null && changed.containsKey(index)) {
                return false;
            }
            if (whole != null) {
                put(row, whole);
            }
            if (isOfResolver(row)) {
                row.unset(Column.BYTES_IN);
            }
            return true;
        }

        private static void put(Row row, Told whole) {
            if (row.has(Column.BYTES_OUT)) {
                row.set(Column.BYTES_OUT, whole.sum.out);
            }
            if (row.has(Column.BYTES_IN)) {
                row.set(Column.BYTES_IN, whole.sum.in);
            }
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

    private static boolean isOfResolver(Row row) {
        return isDatagrams(row) && number(row, Column.REMOTE_PORT) == DNS_PORT;
    }

    private static boolean begins(Row row) {
        return text(row, Column.WHAT).equals("open");
    }

    private static boolean mayContinue(Row row) {
        String what = text(row, Column.WHAT);
        return what.equals("idle") || what.equals("evicted");
    }

    /// Tells flows apart in a sum of such numbers.
    private static long shape(long octets) {
        return (octets + 1) * 0x9e3779b97f4a7c15L ^ octets << 7;
    }

    private static String text(Row row, Column column) {
        return row.has(column) ? row.text(column).toString() : "";
    }

    private static long number(Row row, Column column) {
        return row.has(column) ? row.number(column) : 0;
    }
}
