package blackbox.node.egress;

import blackbox.gateway.egress.FlowWitness;
import blackbox.policy.Rule;
import blackbox.recorder.RecorderException;
import blackbox.recorder.guest.EventSink;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.Marks;
import blackbox.schemas.event.Source;
import blackbox.schemas.row.Text;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The connections that the guest's tracer has told of and that the guest has not closed, and whose they are:
/// what a gateway waits for that holds connections, or judges by programs. Safe to share: the tracer's thread
/// tells, the gateway's asks.
///
/// A connection is known by its ends and the number of its first segment: between the same ends there may soon
/// be another process's.
///
/// Whoever asks hears of an event only after it has been handed to the recorder, so that the record has it before the
/// gateway's decision.
final class GuestConnections implements FlowWitness {

    /// Four times what a gateway has open at once. What is beyond is forgotten, the oldest first, and refused.
    private static final int OPEN_MAX = 65_536;

    /// As many as the gateway keeps half open. One more ends the wait of the oldest.
    static final int WAITING_MAX = 1_024;

    private static final String TCP = "tcp";
    private static final String EXE = "exe";
    private static final String CLOSED = "closed";
    private static final String MAPPED = "::ffff:";

    private final Duration holdMax;
    private final boolean holds;
    private final Map<Ends, Told> open = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Ends, Told> eldest) {
            return size() > OPEN_MAX;
        }
    };
    /// The one that has waited longest is first.
    private final LinkedHashMap<Ends, Waiting> waiting = new LinkedHashMap<>();

    private record Told(long sequence, Begun begun) {}

    private record Waiting(long sequence, CompletableFuture<Optional<Begun>> answer) {}

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
    /// @param holds whether those are refused of which it does not tell
    GuestConnections(Duration holdMax, boolean holds) {
        this.holdMax = holdMax;
        this.holds = holds;
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
        if (event instanceof Event.NetSyn syn) {
            Endpoint local = syn.local();
            Endpoint remote = syn.remote();
            Long sequence = syn.sequence();
            if (local != null && remote != null && sequence != null) {
                begins(Ends.of(local, remote), new Told(sequence, new Begun(program(syn))));
            }
        } else if (event instanceof Event.NetFlow flow && flow.protocol().equals(TCP) && CLOSED.equals(flow.what())) {
            Endpoint local = flow.local();
            Endpoint remote = flow.remote();
            if (local != null && remote != null) {
                ends(Ends.of(local, remote));
            }
        }
    }

    /// Null unless its path is whole and the agent's first processes see a file there.
    private static @Nullable String program(Event.NetSyn syn) {
        Text exe = syn.exe();
        Marks marks = syn.header().marks();
        if (exe == null || marks.truncated().containsKey(EXE) || marks.unread().contains(EXE)) {
            return null;
        }
        String path = exe.toString();
        return Rule.isProgram(path) ? path : null;
    }

    private void begins(Ends ends, Told told) {
        Waiting asked;
        synchronized (this) {
            open.remove(ends); // so that it is the youngest
            open.put(ends, told);
            asked = waiting.get(ends);
            if (asked == null || asked.sequence != told.sequence) {
                return;
            }
            waiting.remove(ends);
        }
        asked.answer.complete(Optional.of(told.begun));
    }

    private synchronized void ends(Ends ends) {
        open.remove(ends);
    }

    @Override
    public boolean holds() {
        return holds;
    }

    @Override
    public CompletionStage<Optional<Begun>> begun(FirstSegment first) {
        Ends ends = Ends.of(first.flow().guest(), first.flow().remote());
        var answer = new CompletableFuture<Optional<Begun>>();
        Waiting given;
        synchronized (this) {
            Told told = open.get(ends);
            if (told != null && told.sequence == first.sequence()) {
                return CompletableFuture.completedFuture(Optional.of(told.begun));
            }
            // Whoever connects again between the same ends has given up the connection before.
            given = waiting.remove(ends);
            if (given == null && waiting.size() >= WAITING_MAX) {
                given = waiting.pollFirstEntry().getValue();
            }
            waiting.put(ends, new Waiting(first.sequence(), answer));
        }
        if (given != null) {
            given.answer.complete(Optional.empty());
        }
        return answer.completeOnTimeout(Optional.empty(), holdMax.toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((began, failure) -> forget(ends));
    }

    /// Answers whoever still waits: the run ends, and its record is to say what became of them.
    void giveUp() {
        List<Waiting> asked;
        synchronized (this) {
            asked = List.copyOf(waiting.values());
        }
        asked.forEach(each -> each.answer.complete(Optional.empty()));
    }

    private synchronized void forget(Ends ends) {
        Waiting asked = waiting.get(ends);
        if (asked != null && asked.answer.isDone()) {
            waiting.remove(ends);
        }
    }

    /// How many connections wait for the guest's word.
    synchronized int waiting() {
        return waiting.size();
    }
}
