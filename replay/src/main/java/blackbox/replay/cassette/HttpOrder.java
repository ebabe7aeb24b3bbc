package blackbox.replay.cassette;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Which of the recorded exchanges with one endpoint may be asked next, over whatever connection. Owned by one thread.
///
/// - Equal requests are asked in the order in which the recorded ones began.
/// - One that may change something (RFC 9110 section 9.2.1) waits for all that had ended when it began.
/// - One that changes nothing waits for those of them that may change something; and for those before it on its
///   connection, unless the client had a pool of connections and took the one that was free first.
///
/// An exchange is over once all of its answer was sent; where the recording has no whole answer, once it was asked;
/// and one that changes nothing also when the guest has given it up. Whether an answer was acknowledged does not
/// matter: acknowledgements may come later than the next request on another connection.
///
/// Places are in the order in which the requests began. To ask for all of them in about that order takes a time
/// that is proportional to their number.
final class HttpOrder {
    private final List<HttpExchange> all;
    private final boolean pool;
    /// Places of a connection's exchanges, in its order.
    private final Map<RecordedConnection, int[]> tapes = new HashMap<>();
    /// Of each place, those of the requests that are equal to its own.
    private final Twins[] twins;
    /// Those that were asked, or never will be.
    private final BitSet gone = new BitSet();
    private final BitSet over = new BitSet();
    /// Those that were asked, and whose answers are to come.
    private final BitSet underway = new BitSet();
    private final Earliest unfinished;
    private final Earliest unfinishedUnsafe;
    private int first;

    /// @param pool whether the client used several connections in turns
    HttpOrder(List<List<HttpExchange>> connections, boolean pool) {
        this.all = connections.stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparingLong(HttpExchange::began))
                .toList();
        this.pool = pool;
        connections.stream()
                .filter(each -> !each.isEmpty())
                .forEach(each -> tapes.put(each.getFirst().connection(), new int[each.size()]));
        for (int i = 0; i < all.size(); i++) {
            places(all.get(i))[all.get(i).number()] = i;
        }
        this.twins = twins(all);
        this.unfinished = new Earliest(_ -> true);
        this.unfinishedUnsafe = new Earliest(place -> !all.get(place).isSafe());
    }

    /// Of some exchanges, the one that ended first in the recording and is not over yet.
    private final class Earliest {
        private final int[] places;
        private int at;

        Earliest(IntPredicate which) {
            places = IntStream.range(0, all.size())
                    .filter(which)
                    .boxed()
                    .sorted(Comparator.comparingLong(place -> all.get(place).ended()))
                    .mapToInt(place -> place)
                    .toArray();
        }

        /// When it ended; [Long#MAX_VALUE] if there is none.
        long ended() {
            while (at < places.length && over.get(places[at])) {
                at++;
            }
            return at == places.length ? Long.MAX_VALUE : all.get(places[at]).ended();
        }
    }

    /// Equal requests.
    private final class Twins {
        private final List<Integer> places = new ArrayList<>(1);
        private int at;

        /// The first one that is left.
        int first() {
            while (at < places.size() && gone.get(places.get(at))) {
                at++;
            }
            return at == places.size() ? -1 : places.get(at);
        }
    }

    /// What tells requests apart.
    ///
    /// @param start the first octets; two that have these in common are most often equal
    /// @param digest of all octets, where there are more and others have the same start
    private record Form(long length, ByteBuffer start, ByteBuffer digest) {
        private static final ByteBuffer NONE = ByteBuffer.allocate(0);

        static Form of(HttpExchange exchange) {
            return new Form(exchange.request().length(), exchange.start(), NONE);
        }

        boolean isWhole() {
            return length == start.remaining();
        }
    }

    private Twins[] twins(List<HttpExchange> exchanges) {
        var count = new HashMap<Form, Integer>();
        exchanges.forEach(each -> count.merge(Form.of(each), 1, Integer::sum));
        var known = new HashMap<Form, Twins>();
        var twins = new Twins[exchanges.size()];
        for (int i = 0; i < twins.length; i++) {
            Form form = Form.of(exchanges.get(i));
            if (!form.isWhole() && count.getOrDefault(form, 0) > 1) {
                form = new Form(form.length, form.start, exchanges.get(i).digest());
            }
            twins[i] = known.computeIfAbsent(form, _ -> new Twins());
            twins[i].places.add(i);
        }
        return twins;
    }

    /// All, in the order of their places.
    List<HttpExchange> all() {
        return all;
    }

    /// Of all on its connection.
    int[] places(HttpExchange exchange) {
        int[] places = tapes.get(exchange.connection());
        if (places == null) {
            throw new IllegalArgumentException("it is of another endpoint");
        }
        return places;
    }

    int place(HttpExchange exchange) {
        return places(exchange)[exchange.number()];
    }

    /// Whether anything is left to be asked.
    boolean isAnyLeft() {
        return next(first) < all.size();
    }

    private int next(int from) {
        return gone.nextClearBit(from);
    }

    boolean mayAsk(HttpExchange exchange) {
        return mayAsk(place(exchange));
    }

    /// Whether an exchange that may not be asked yet may wait until it may: all that comes before it and was not asked
    /// is of other connections, over which it may still come.
    boolean mayWait(HttpExchange exchange) {
        int place = place(exchange);
        return !gone.get(place)
                && twins[place].first() == place
                && IntStream.of(places(exchange))
                        .limit(exchange.number())
                        .allMatch(each -> isAsked(each) || pool && !isBefore(all.get(each), exchange));
    }

    private boolean isAsked(int place) {
        return over.get(place) || underway.get(place);
    }

    /// Whether one was over in the recording when another began, which had to come after it.
    private static boolean isBefore(HttpExchange one, HttpExchange other) {
        return one.ended() < other.began() && !(one.isSafe() && other.isSafe());
    }

    private boolean mayAsk(int place) {
        HttpExchange each = all.get(place);
        return !gone.get(place)
                && twins[place].first() == place
                && each.began() <= (each.isSafe() ? unfinishedUnsafe : unfinished).ended()
                && (pool || each.number() == 0 || over.get(places(each)[each.number() - 1]));
    }

    /// The exchange after this one on its connection, if it may be asked; or null.
    @Nullable
    HttpExchange after(HttpExchange exchange) {
        int[] places = places(exchange);
        int number = exchange.number() + 1;
        return number < places.length && mayAsk(places[number]) ? all.get(places[number]) : null;
    }

    /// The first of these that may be asked; null if there is none.
    @Nullable
    HttpExchange first(Predicate<HttpExchange> which) {
        first = next(first);
        // Nothing passes one that may change something.
        long last = unfinishedUnsafe.ended();
        for (int i = first; i < all.size() && all.get(i).began() <= last; i = next(i + 1)) {
            if (mayAsk(i) && which.test(all.get(i))) {
                return all.get(i);
            }
        }
        return null;
    }

    /// The first of these that may be asked once others are over; null if there is none.
    @Nullable
    HttpExchange firstLater(Predicate<HttpExchange> which) {
        return left(place -> twins[place].first() == place)
                .filter(which)
                .findFirst()
                .orElse(null);
    }

    /// Of those that are left, the one whose request has the most in common with these octets: if none has all of
    /// them, of those that may be asked, as far as there are any. Null if nothing is left.
    @Nullable
    HttpExchange nearest(byte[] octets) {
        return left(_ -> true)
                .filter(each -> each.mismatch(0, octets) == octets.length)
                .findFirst()
                .or(() -> left(this::mayAsk).max(Comparator.comparingInt(each -> each.mismatch(0, octets))))
                .or(() -> left(_ -> true).findFirst())
                .orElse(null);
    }

    private Stream<HttpExchange> left(IntPredicate which) {
        return IntStream.iterate(next(first), place -> place < all.size(), place -> next(place + 1))
                .filter(which)
                .mapToObj(all::get);
    }

    void ask(HttpExchange exchange) {
        int place = place(exchange);
        gone.set(place);
        (exchange.isWhole() ? underway : over).set(place);
    }

    /// Notes that all of the answer was sent.
    void answer(HttpExchange exchange) {
        int place = place(exchange);
        over.set(place);
        underway.clear(place);
    }

    /// Notes that the guest gave up before it had all of the answer: it gets nothing more of that connection.
    void cut(HttpExchange exchange) {
        underway.clear(place(exchange));
        for (int each : places(exchange)) {
            gone.set(each);
        }
        if (exchange.isSafe()) {
            over.set(place(exchange));
        }
    }
}
