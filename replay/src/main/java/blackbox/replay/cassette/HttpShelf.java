package blackbox.replay.cassette;

import blackbox.schemas.event.Endpoint;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The recorded HTTP/1.1 exchanges with one endpoint, each of which is played once, on whatever connection the guest
/// asks for it. Owned by one thread.
///
/// The order that the recording gives stays: on each recorded connection a request is taken only after the ones
/// before it, and one connection of the guest's takes none that was answered before an earlier one of its own was
/// asked. A client that used several connections in turns has a pool of them, and takes the one that is free first: of
/// such a one's requests, those that change nothing (RFC 9110 section 9.2.1) may come in any order among themselves.
final class HttpShelf {
    private final Endpoint remote;
    private final List<Tape> tapes;
    private final boolean pool;
    private int opened;
    private int unfinished;
    private long moved;
    private boolean missed;

    /// How far a recorded connection was played.
    private static final class Tape {
        private final List<HttpExchange> exchanges;
        private final BitSet asked = new BitSet();
        private int delivered;
        private boolean cut;

        Tape(List<HttpExchange> exchanges) {
            this.exchanges = exchanges;
        }

        /// Adds those that may be asked now: the first that was not, and in a pool what is safe behind it.
        void next(boolean pool, Consumer<HttpExchange> next) {
            for (int i = asked.nextClearBit(0); i < exchanges.size() && !cut; i = asked.nextClearBit(i + 1)) {
                HttpExchange each = exchanges.get(i);
                boolean first = i == asked.nextClearBit(0);
                if (first || each.isSafe()) {
                    next.accept(each);
                }
                if (!pool || !each.isSafe()) {
                    return;
                }
            }
        }

        boolean has(HttpExchange exchange) {
            return !exchanges.isEmpty() && exchanges.getFirst().connection() == exchange.connection();
        }

        boolean isPlayed() {
            return delivered == exchanges.size();
        }

        /// Whether it was used both before and after another one's first request.
        boolean isInTurnsWith(Tape other) {
            long began = other.exchanges.getFirst().began();
            return exchanges.getFirst().began() < began
                    && began < exchanges.getLast().began();
        }
    }

    private HttpShelf(Endpoint remote, List<Tape> tapes) {
        this.remote = remote;
        this.tapes = tapes;
        List<Tape> used =
                tapes.stream().filter(tape -> !tape.exchanges.isEmpty()).toList();
        this.pool = used.stream().anyMatch(one -> used.stream().anyMatch(one::isInTurnsWith));
    }

    /// Those with an endpoint; null if what was recorded of it is not all plain HTTP/1.1, or a connection was refused
    /// after another one had been opened.
    static @Nullable HttpShelf of(Endpoint remote, List<RecordedConnection> connections) {
        var tapes = new ArrayList<Tape>();
        for (RecordedConnection each : connections) {
            boolean accepted = each.opening == RecordedConnection.Opening.ACCEPTED;
            List<HttpExchange> exchanges = accepted ? HttpExchange.of(each) : null;
            if (exchanges != null) {
                tapes.add(new Tape(exchanges));
            } else if (accepted || !tapes.isEmpty()) {
                return null;
            }
        }
        return tapes.stream().allMatch(tape -> tape.exchanges.isEmpty()) ? null : new HttpShelf(remote, tapes);
    }

    Endpoint remote() {
        return remote;
    }

    /// Counts a connection that the guest opened.
    void open() {
        opened++;
    }

    /// Counts a request that was begun.
    void begin() {
        unfinished++;
    }

    /// Notes that one that was begun is whole.
    void finish() {
        unfinished--;
    }

    /// Notes that something was asked that was not recorded.
    void miss() {
        missed = true;
    }

    /// Whether anything is left to be asked.
    boolean isAnyLeft() {
        return next().findAny().isPresent();
    }

    /// Those that may be asked now, in the order in which they were.
    private Stream<HttpExchange> next() {
        return tapes.stream()
                .<HttpExchange>mapMulti((tape, next) -> tape.next(pool, next))
                .sorted(Comparator.comparingLong(HttpExchange::began));
    }

    /// The exchange that a connection of the guest's may go on with, whose request begins with the first
    /// `received` octets of `known`'s and continues with `more`: the next one of the recorded connection that it
    /// is on, or else the first; null if there is none.
    ///
    /// @param on what the connection has had
    @Nullable
    HttpExchange find(History on, @Nullable HttpExchange known, long received, byte[] more) {
        List<HttpExchange> all = next().filter(
                        each -> isOn(on.last(), each) || each.ended() >= on.latest(!pool || !each.isSafe()))
                .filter(each ->
                        known == null || each.equals(known) || each.request().sharesStart(known.request(), received))
                .filter(each -> each.mismatch(received, more) == more.length)
                .toList();
        return all.stream()
                .filter(each -> isOn(on.last(), each))
                .findFirst()
                .orElse(all.isEmpty() ? null : all.getFirst());
    }

    /// What a connection of the guest's has had.
    ///
    /// @param last the exchange before this, or null
    /// @param latest when the latest began of all
    /// @param latestUnsafe the same of those that may change something
    record History(@Nullable HttpExchange last, long latest, long latestUnsafe) {
        static final History NONE = new History(null, Long.MIN_VALUE, Long.MIN_VALUE);

        long latest(boolean ofAll) {
            return ofAll ? latest : latestUnsafe;
        }

        History with(HttpExchange next) {
            long began = next.began();
            return new History(
                    next, Math.max(latest, began), next.isSafe() ? latestUnsafe : Math.max(latestUnsafe, began));
        }
    }

    private static boolean isOn(@Nullable HttpExchange on, HttpExchange exchange) {
        return on != null && on.connection() == exchange.connection();
    }

    /// Of those that may be asked now, the exchange whose request has the most in common with these octets; null if
    /// there is none.
    @Nullable
    HttpExchange nearest(byte[] octets) {
        return next().max(Comparator.comparingInt(each -> each.mismatch(0, octets)))
                .orElse(null);
    }

    private Tape tape(HttpExchange exchange) {
        return tapes.stream().filter(tape -> tape.has(exchange)).findFirst().orElseThrow();
    }

    /// Takes an exchange for a connection of the guest's.
    ///
    /// @param before the one that it had before, or null
    void ask(HttpExchange exchange, @Nullable HttpExchange before) {
        boolean asRecorded = exchange.number() == 0
                ? before == null
                : isOn(before, exchange) && before != null && before.number() == exchange.number() - 1;
        moved += asRecorded ? 0 : 1;
        tape(exchange).asked.set(exchange.number());
    }

    /// Notes that the guest has all of the answer.
    void deliver(HttpExchange exchange) {
        tape(exchange).delivered++;
    }

    /// Notes that the guest gave up before it had all of the answer.
    void cut(HttpExchange exchange) {
        tape(exchange).cut = true;
    }

    /// What went over other connections than in the recording; null if nothing did, or not all that was recorded was
    /// asked and answered, whole, and nothing else.
    CassettePeer.@Nullable Moved moved() {
        boolean all = !missed && unfinished == 0 && tapes.stream().allMatch(Tape::isPlayed);
        return all && (moved > 0 || opened != tapes.size())
                ? new CassettePeer.Moved(remote, moved, tapes.size(), opened)
                : null;
    }
}
