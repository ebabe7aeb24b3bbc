package blackbox.node.egress;

import blackbox.gateway.egress.Flow;
import blackbox.gateway.egress.FlowWitness;
import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.Kind;
import blackbox.schemas.event.Source;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The connections that the guest's tracer has told of and that the guest has not closed: what a gateway that holds
/// connections waits for. Safe to share: the tracer's thread tells, the gateway's asks.
///
/// Whoever asks hears of an event only after it has been handed to the recorder, so that the record has it before the
/// gateway's decision.
final class GuestConnections implements FlowWitness {

    /// Four times what a gateway has open at once. What is beyond is forgotten, the oldest first, and refused.
    private static final int OPEN_MAX = 65_536;

    /// As many as the gateway keeps half open. One more ends the wait of the oldest.
    static final int WAITING_MAX = 1_024;

    private static final String TCP = "tcp";
    private static final String CLOSED = "closed";
    private static final String MAPPED = "::ffff:";

    private final Duration holdMax;
    private final Map<Ends, Boolean> open = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Ends, Boolean> eldest) {
            return size() > OPEN_MAX;
        }
    };
    /// The one that has waited longest is first.
    private final LinkedHashMap<Ends, CompletableFuture<Boolean>> waiting = new LinkedHashMap<>();

    private record Ends(Endpoint local, Endpoint remote) {
        static Ends of(Endpoint local, Endpoint remote) {
            return new Ends(plain(local), plain(remote));
        }

        /// A socket of IPv6 that is connected over IPv4 has addresses of either.
        private static Endpoint plain(Endpoint end) {
            String ip = end.ip();
            return ip.startsWith(MAPPED) && ip.indexOf('.') > 0
                    ? new Endpoint(ip.substring(MAPPED.length()), end.port())
                    : end;
        }
    }

    /// @param holdMax how long a connection waits for the guest's word
    GuestConnections(Duration holdMax) {
        this.holdMax = holdMax;
    }

    /// A sink that hands each event on and then learns from it.
    EventSink before(EventSink next) {
        return new EventSink() {
            @Override
            public void accept(Event event) throws RecorderException {
                next.accept(event);
                learn(event);
            }

            @Override
            public @Nullable Exception failure() {
                return next.failure();
            }
        };
    }

    private void learn(Event event) {
        if (event.header().source() != Source.GUEST) {
            return;
        }
        if (event instanceof Event.NetCall call && call.kind() == Kind.NET_SYN) {
            Endpoint local = call.local();
            Endpoint remote = call.remote();
            if (local != null && remote != null) {
                begins(Ends.of(local, remote));
            }
        } else if (event instanceof Event.NetFlow flow && flow.protocol().equals(TCP) && CLOSED.equals(flow.what())) {
            Endpoint local = flow.local();
            Endpoint remote = flow.remote();
            if (local != null && remote != null) {
                ends(Ends.of(local, remote));
            }
        }
    }

    private void begins(Ends ends) {
        CompletableFuture<Boolean> asked;
        synchronized (this) {
            open.remove(ends); // so that it is the youngest
            open.put(ends, true);
            asked = waiting.remove(ends);
        }
        if (asked != null) {
            asked.complete(true);
        }
    }

    private synchronized void ends(Ends ends) {
        open.remove(ends);
    }

    @Override
    public CompletionStage<Boolean> began(Flow flow) {
        Ends ends = Ends.of(flow.guest(), flow.remote());
        var answer = new CompletableFuture<Boolean>();
        CompletableFuture<Boolean> given;
        synchronized (this) {
            if (open.containsKey(ends)) {
                return CompletableFuture.completedFuture(true);
            }
            // Whoever connects again between the same ends has given up the connection before.
            given = waiting.remove(ends);
            if (given == null && waiting.size() >= WAITING_MAX) {
                given = waiting.pollFirstEntry().getValue();
            }
            waiting.put(ends, answer);
        }
        if (given != null) {
            given.complete(false);
        }
        return answer.completeOnTimeout(false, holdMax.toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((began, failure) -> forget(ends));
    }

    /// Answers whoever still waits: the run ends, and its record is to say what became of them.
    void giveUp() {
        List<CompletableFuture<Boolean>> asked;
        synchronized (this) {
            asked = List.copyOf(waiting.values());
        }
        asked.forEach(each -> each.complete(false));
    }

    private synchronized void forget(Ends ends) {
        CompletableFuture<Boolean> answer = waiting.get(ends);
        if (answer != null && answer.isDone()) {
            waiting.remove(ends);
        }
    }

    /// How many connections wait for the guest's word.
    synchronized int waiting() {
        return waiting.size();
    }
}
