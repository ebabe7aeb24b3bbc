package blackbox.replay.cassette;

import blackbox.replay.request.DrawnIds;
import blackbox.replay.request.IdPlace;
import blackbox.replay.request.RequestMatch;
import blackbox.schemas.event.Endpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The recorded HTTP/1.1 exchanges with one endpoint, each of which is played once, on whatever connection the guest
/// asks for it, in an order that [HttpOrder] allows. Owned by one thread.
///
/// Unless the client had a pool of connections, one connection of the guest's takes no request that was answered before
/// an earlier one of its own was asked: two connections may become one, but not in reverse.
final class HttpShelf {
    /// How long a request that came early waits for the answers to those before it, from when the guest was heard last.
    static final long QUIET_NS = Duration.ofSeconds(10).toNanos();

    /// How long it waits in all.
    static final long HELD_NS = Duration.ofMinutes(1).toNanos();

    /// How many requests are kept at once; memory is twice [GuestRequest#OCTETS_MAX] each, at most.
    private static final int KEPT_MAX = 8;

    private static final long JUST_NOW = Long.MIN_VALUE;

    private final Endpoint remote;
    private final DrawnIds ids;
    private final Map<IdPlace, Long> stoodFor = new EnumMap<>(IdPlace.class);
    private final HttpOrder order;
    private final HttpTurns turns;
    private final HttpEnds ends;
    /// Requests that wait until others are answered, and since when; [#JUST_NOW] until the next tick.
    private final Map<HttpClaim, Long> held = new LinkedHashMap<>();

    private final boolean pool;
    /// How many connections and exchanges were recorded.
    private final int connections;

    private final int exchanges;
    private int opened;
    private int unfinished;
    private int delivered;
    private int kept;
    private long moved;
    private long heldBack;
    private boolean missed;
    private boolean heard;
    private boolean changed;
    private long nowNs;
    private long heardNs;

    private HttpShelf(Endpoint remote, List<List<HttpExchange>> tapes, DrawnIds ids) {
        this.remote = remote;
        this.ids = ids;
        this.pool = isPool(tapes);
        this.order = new HttpOrder(tapes, pool);
        this.turns = new HttpTurns(order.all());
        this.ends = new HttpEnds(order.all());
        this.connections = tapes.size();
        this.exchanges = tapes.stream().mapToInt(List::size).sum();
    }

    /// Those with an endpoint; null if what was recorded of it is not all plain HTTP/1.1 and without gaps, or a
    /// connection was refused after another one had been opened.
    ///
    /// @param ids that stand for each other, whatever endpoint they are sent to; more are added
    static @Nullable HttpShelf of(Endpoint remote, List<RecordedConnection> connections, DrawnIds ids) {
        var tapes = new ArrayList<List<HttpExchange>>();
        for (RecordedConnection each : connections) {
            boolean accepted = each.opening == RecordedConnection.Opening.ACCEPTED;
            List<HttpExchange> exchanges = accepted && !each.hasGap ? HttpExchange.of(each) : null;
            if (exchanges != null) {
                tapes.add(exchanges);
            } else if (accepted || !tapes.isEmpty()) {
                return null;
            }
        }
        return tapes.stream().allMatch(List::isEmpty) ? null : new HttpShelf(remote, tapes, ids);
    }

    /// Whether one was used both before and after another one's first request.
    private static boolean isPool(List<List<HttpExchange>> tapes) {
        long last = Long.MIN_VALUE;
        for (List<HttpExchange> each : tapes.stream()
                .filter(tape -> !tape.isEmpty())
                .sorted(Comparator.comparingLong(tape -> tape.getFirst().began()))
                .toList()) {
            if (each.getFirst().began() < last) {
                return true;
            }
            last = Math.max(last, each.getLast().began());
        }
        return false;
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
        return order.isAnyLeft();
    }

    /// The exchange that a connection of the guest's may go on with, whose request begins with the first
    /// `received` octets of `known`'s and continues with `more`: the next one of the recorded connection that it
    /// is on, or else the first, or else the first that may be asked later; null if there is none.
    ///
    /// @param on what the connection has had
    @Nullable
    HttpExchange find(History on, @Nullable HttpExchange known, long received, byte[] more) {
        HttpExchange last = on.last();
        HttpExchange next = last == null ? null : order.after(last);
        if (next != null && goesOn(next, on, known, received, more)) {
            return next;
        }
        HttpExchange first = order.first(each -> goesOn(each, on, known, received, more));
        return first == null ? order.firstLater(each -> goesOn(each, on, known, received, more)) : first;
    }

    private boolean goesOn(HttpExchange each, History on, @Nullable HttpExchange known, long received, byte[] more) {
        return (pool || each.ended() >= on.latest())
                && each.mismatch(received, more) == more.length
                && (known == null || each.equals(known) || each.request().sharesStart(known.request(), received));
    }

    /// The exchange that [#find] would give, for a whole request that stands for the recorded one; null if there is
    /// none. Ids that stand for each other in them do so from now on.
    ///
    /// @param settled the only one that it may be, or null
    @Nullable
    HttpExchange findLike(History on, @Nullable HttpExchange settled, byte[] request) {
        HttpExchange found = settled != null ? settled : findLike(on, request);
        RequestMatch match = found == null ? null : difference(found, request);
        if (found == null || match == null || !match.isMatch()) {
            return null;
        }
        match.tie(ids);
        match.places().forEach(place -> stoodFor.merge(place, 1L, Long::sum));
        return found;
    }

    private @Nullable HttpExchange findLike(History on, byte[] request) {
        HttpExchange last = on.last();
        HttpExchange next = last == null ? null : order.after(last);
        if (next != null && isLike(next, on, request)) {
            return next;
        }
        HttpExchange first = order.first(each -> isLike(each, on, request));
        return first == null ? order.firstLater(each -> isLike(each, on, request)) : first;
    }

    private boolean isLike(HttpExchange each, History on, byte[] request) {
        boolean mayBe = each.request().length() == request.length && (pool || each.ended() >= on.latest());
        RequestMatch match = mayBe ? difference(each, request) : null;
        return match != null && match.isMatch();
    }

    /// How a request compares with a recorded one; null if that one is too long.
    @Nullable
    RequestMatch difference(HttpExchange exchange, byte[] request) {
        StreamSlice recorded = exchange.request();
        return recorded.length() > GuestRequest.OCTETS_MAX ? null : RequestMatch.of(recorded.rest(0), request, ids);
    }

    /// What a connection of the guest's has had.
    ///
    /// @param last the exchange before this, or null
    /// @param latest when the latest of all began
    record History(@Nullable HttpExchange last, long latest) {
        static final History NONE = new History(null, Long.MIN_VALUE);

        History with(HttpExchange next) {
            return new History(next, Math.max(latest, next.began()));
        }
    }

    /// Of those that are left, the exchange whose request has the most in common with these octets; null if there is
    /// none.
    @Nullable
    HttpExchange nearest(byte[] octets) {
        return order.nearest(octets);
    }

    /// Whether an exchange may be asked now, apart from what the connection has had.
    boolean mayAsk(HttpExchange exchange) {
        return order.mayAsk(exchange);
    }

    /// Takes an exchange for a connection of the guest's.
    ///
    /// @param before the one that it had before, or null
    void ask(HttpExchange exchange, @Nullable HttpExchange before) {
        boolean asRecorded = before == null
                ? exchange.number() == 0
                : before.connection() == exchange.connection() && before.number() == exchange.number() - 1;
        moved += asRecorded ? 0 : 1;
        order.ask(exchange);
        turns.ask(order.place(exchange));
        changed = true;
    }

    /// Notes that the guest did something.
    void hear() {
        heard = true;
    }

    /// Whether a request that equals none may be kept until it is whole, because it may stand for one.
    ///
    /// @return whether it is; then [#drop] has to follow
    boolean keep() {
        if (!order.isAnyLeft() && unfinished == 0 || kept == KEPT_MAX) {
            return false;
        }
        kept++;
        return true;
    }

    /// Notes that a request is no longer kept.
    void drop() {
        kept--;
    }

    /// As [HttpOrder#mayWait].
    boolean mayWait(HttpExchange exchange) {
        return order.mayWait(exchange);
    }

    /// Notes that a request waits until those before it are answered.
    void hold(HttpClaim claim) {
        heldBack += held.putIfAbsent(claim, JUST_NOW) == null ? 1 : 0;
    }

    /// Notes that it no longer waits.
    void release(HttpClaim claim) {
        held.remove(claim);
    }

    boolean isHeld(HttpClaim claim) {
        return held.containsKey(claim);
    }

    /// Whether it has waited for too long.
    boolean isHeldTooLong(HttpClaim claim) {
        return isLate(held.getOrDefault(claim, JUST_NOW));
    }

    private boolean isLate(long sinceNs) {
        return sinceNs != JUST_NOW && nowNs >= untilNs(sinceNs);
    }

    private long untilNs(long sinceNs) {
        return Math.min(Math.max(heardNs, sinceNs) + QUIET_NS, sinceNs + HELD_NS);
    }

    /// No longer holds those that have waited for too long, whether or not anybody told them.
    void letGo() {
        held.values().removeIf(this::isLate);
    }

    /// Stops waiting where it has been long enough. Returns when to look again, or [PeerConnection#NO_TIMER].
    long tick(long now) {
        nowNs = now;
        heardNs = heard ? now : heardNs;
        long dueNs = Math.min(turns.tick(now, heard, held.size()), ends.tick(now, heard));
        heard = false;
        return Math.min(dueNs, tickHeld());
    }

    private long tickHeld() {
        held.replaceAll((_, sinceNs) -> sinceNs == JUST_NOW ? nowNs : sinceNs);
        long dueNs = held.values().stream().mapToLong(this::untilNs).min().orElse(PeerConnection.NO_TIMER);
        changed |= dueNs <= nowNs;
        return dueNs;
    }

    /// Whether connections that had to wait may go on, since the last time.
    boolean takeChanged() {
        boolean was = changed;
        changed = false;
        boolean answers = turns.takeChanged();
        return ends.takeChanged() || answers || was;
    }

    /// How many octets of an answer may be sent so far, as the order of the answers is.
    long allowed(HttpExchange exchange) {
        return turns.allowed(exchange, order.place(exchange));
    }

    /// Notes that an answer has begun.
    void begin(HttpExchange exchange) {
        turns.begin(order.place(exchange));
    }

    /// Notes that all of the answer was sent.
    void answer(HttpExchange exchange) {
        order.answer(exchange);
        turns.answer(order.place(exchange));
        changed = true;
    }

    /// Whether the connection of a last exchange may be ended, as the order of the ends is.
    boolean mayEnd(HttpExchange exchange) {
        return ends.mayEnd(order.place(exchange), turns);
    }

    /// Notes that the connection of a last exchange was ended, or will not be.
    void end(HttpExchange exchange) {
        ends.end(order.place(exchange));
    }

    /// Notes that the guest has ended its stream on the connection of a last exchange, or will not.
    void leave(HttpExchange exchange) {
        heard = true;
        ends.leave(order.place(exchange));
    }

    /// Counts an answer that the guest has acknowledged whole.
    void deliver() {
        delivered++;
    }

    /// Notes that the guest gave up before it had all of the answer.
    void cut(HttpExchange exchange) {
        order.cut(exchange);
        for (int each : order.places(exchange)) {
            turns.forget(each);
        }
        turns.drop(order.place(exchange));
        for (int each : order.places(exchange)) {
            ends.drop(each);
        }
        changed = true;
    }

    /// In how many requests ids stood for others, and where; null if there are none.
    CassettePeer.@Nullable StandIns standIns() {
        return stoodFor.isEmpty() ? null : new CassettePeer.StandIns(remote, stoodFor);
    }

    /// What did not come in the recorded order; null if all did.
    CassettePeer.@Nullable Turned turned() {
        long late = turns.late();
        return late + heldBack > 0 ? new CassettePeer.Turned(remote, heldBack, late) : null;
    }

    /// What went over other connections than in the recording; null if nothing did, or not all that was recorded was
    /// asked and answered, whole, and nothing else.
    CassettePeer.@Nullable Moved moved() {
        return isWhole() && (moved > 0 || opened != connections)
                ? new CassettePeer.Moved(remote, moved, connections, opened)
                : null;
    }

    /// Whether all that was recorded was asked and answered, whole, and nothing else.
    boolean isWhole() {
        return !missed && unfinished == 0 && kept == 0 && delivered == exchanges;
    }
}
