package blackbox.replay.cassette;

import blackbox.schemas.event.Endpoint;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The recorded HTTP/1.1 exchanges with one endpoint, each of which is played once, on whatever connection the guest
/// asks for it. The order that the recording gives stays: on each recorded connection a request is taken only after the
/// ones before it, and one connection of the guest's takes none that was answered before an earlier one of its own was
/// asked. Owned by one thread.
final class HttpShelf {
    private final Endpoint remote;
    private final List<Tape> tapes;
    private int opened;
    private long moved;
    private boolean missed;

    /// How far a recorded connection was played.
    private static final class Tape {
        private final List<HttpExchange> exchanges;
        private int asked;
        private int delivered;
        private boolean cut;
        /// The guest's connection that asked last, or null.
        private @Nullable HttpClaim asker;

        Tape(List<HttpExchange> exchanges) {
            this.exchanges = exchanges;
        }

        /// The one that may be asked now, or null.
        @Nullable
        HttpExchange next() {
            return cut || asked == exchanges.size() ? null : exchanges.get(asked);
        }

        boolean has(@Nullable HttpExchange exchange) {
            return exchange != null
                    && !exchanges.isEmpty()
                    && exchanges.getFirst().connection() == exchange.connection();
        }

        boolean isPlayed() {
            return delivered == exchanges.size();
        }
    }

    private HttpShelf(Endpoint remote, List<Tape> tapes) {
        this.remote = remote;
        this.tapes = tapes;
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
                .<HttpExchange>mapMulti((tape, next) -> {
                    HttpExchange exchange = tape.next();
                    if (exchange != null) {
                        next.accept(exchange);
                    }
                })
                .sorted(Comparator.comparingLong(HttpExchange::began));
    }

    /// The exchange that a connection of the guest's may go on with, whose request begins with the first
    /// `received` octets of `known`'s and continues with `more`: the next one of the recorded connection that it
    /// is on, or else the first; null if there is none.
    ///
    /// @param on the one that it had last, or null
    /// @param latest when the latest began that it has had
    @Nullable
    HttpExchange find(
            @Nullable HttpExchange on, long latest, @Nullable HttpExchange known, long received, byte[] more) {
        List<HttpExchange> all = next().filter(each -> isOn(on, each) || each.ended() >= latest)
                .filter(each ->
                        known == null || each.equals(known) || each.request().sharesStart(known.request(), received))
                .filter(each -> each.request().mismatch(received, more) == more.length)
                .toList();
        return all.stream().filter(each -> isOn(on, each)).findFirst().orElse(all.isEmpty() ? null : all.getFirst());
    }

    private static boolean isOn(@Nullable HttpExchange on, HttpExchange exchange) {
        return on != null && on.connection() == exchange.connection();
    }

    /// Of those that may be asked now, the exchange whose request has the most in common with these octets; null if
    /// there is none.
    @Nullable
    HttpExchange nearest(byte[] octets) {
        return next().max(Comparator.comparingInt(each -> each.request().mismatch(0, octets)))
                .orElse(null);
    }

    private Tape tape(HttpExchange exchange) {
        return tapes.stream().filter(tape -> tape.has(exchange)).findFirst().orElseThrow();
    }

    /// Takes an exchange for a connection of the guest's.
    ///
    /// @param before the one that it had before, or null
    /// @param asker the guest's connection
    void ask(HttpExchange exchange, @Nullable HttpExchange before, HttpClaim asker) {
        Tape tape = tape(exchange);
        boolean asRecorded = tape.asked == 0 ? before == null : tape.has(before) && tape.asker == asker;
        moved += asRecorded ? 0 : 1;
        tape.asked++;
        tape.asker = asker;
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
        boolean all = !missed && tapes.stream().allMatch(Tape::isPlayed);
        return all && (moved > 0 || opened != tapes.size())
                ? new CassettePeer.Moved(remote, moved, tapes.size(), opened)
                : null;
    }
}
