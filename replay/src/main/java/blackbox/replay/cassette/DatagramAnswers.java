package blackbox.replay.cassette;

import blackbox.gateway.packet.UdpDatagram;
import blackbox.replay.cassette.Miss.Content;
import blackbox.replay.cassette.Miss.Kind;
import blackbox.replay.cassette.RecordedExchange.Name;
import blackbox.replay.cassette.RecordedExchange.Question;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.DnsMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Finds the answer to a datagram: each recorded one is used once, in the order of the recording. Only a DNS
/// question may be repeated from the same port with the same id, as resolvers do: it then gets what the
/// recorded repetition got, and once those are used up, the last answer again. And whoever asks a peer over
/// more connections than the recorded ones may look up its name for each. Owned by one thread.
final class DatagramAnswers {
    private static final int REPEATS_MAX = 65_536;

    /// How often a question may be asked beyond what was recorded, so that a loop ends.
    private static final int MORE_MAX = 64;

    /// How many questions to one resolver may have been asked more or less often.
    private static final int ODD_MAX = 256;

    private final Cassette cassette;
    private final Function<Endpoint, @Nullable HttpShelf> shelves;
    private final Set<RecordedExchange> used = new HashSet<>();
    private final Map<Asked, RecordedExchange> asked = new HashMap<>();
    private final Map<Endpoint, Told> told = new HashMap<>();
    private boolean dropped;

    private record Asked(int port, int id, Endpoint remote, Question question) {}

    /// What was sent to one endpoint.
    private final class Told {
        private final Map<Question, List<RecordedExchange>> recorded;
        private final Map<Question, Long> sent = new HashMap<>();
        private boolean missed;
        private @Nullable Map<String, Set<String>> addresses;

        Told(Endpoint remote) {
            this.recorded = cassette.exchanges(remote).stream()
                    .collect(
                            Collectors.groupingBy(RecordedExchange::question, LinkedHashMap::new, Collectors.toList()));
        }

        List<RecordedExchange> recorded(Question question) {
            return recorded.getOrDefault(question, List.of());
        }

        /// How many more of a question were sent than recorded, of whatever port and id.
        long more(Question question) {
            return sent.getOrDefault(question, 0L) - recorded(question).size();
        }

        /// Those that were sent more or less often than recorded.
        List<Question> odd() {
            return recorded.keySet().stream().filter(each -> more(each) != 0).toList();
        }

        /// Whether all of the recording that is about this name and type has one form.
        boolean isOnlyForm(Question question) {
            return recorded.keySet().stream()
                            .filter(each -> Objects.equals(each.name(), question.name()))
                            .count()
                    == 1;
        }

        /// The endpoints that there were connections to at the addresses of the name that is asked for; none if
        /// it is anything else that is asked.
        List<Endpoint> endpoints(Question question) {
            Name name = question.name();
            return name == null ? List.of() : cassette.endpointsAt(addresses().getOrDefault(name.text(), Set.of()));
        }

        /// By names, whatever was found of each.
        private Map<String, Set<String>> addresses() {
            Map<String, Set<String>> known = addresses;
            if (known == null) {
                known = new HashMap<>();
                for (var each : recorded.entrySet()) {
                    Name name = each.getKey().name();
                    if (name != null) {
                        Set<String> all = known.computeIfAbsent(name.text(), _ -> new HashSet<>());
                        each.getValue()
                                .forEach(exchange -> answers(exchange).forEach(found -> all.addAll(found.answers())));
                    }
                }
                addresses = known;
            }
            return known;
        }
    }

    /// @param shelves what can be asked over any connection, by endpoint
    DatagramAnswers(Cassette cassette, Function<Endpoint, @Nullable HttpShelf> shelves) {
        this.cassette = cassette;
        this.shelves = shelves;
    }

    /// How many recorded datagrams were used.
    int used() {
        return used.size();
    }

    /// Notes that something was sent that is no datagram as it should be, and that nobody answers.
    void drop() {
        dropped = true;
    }

    private Told told(Endpoint remote) {
        return told.computeIfAbsent(remote, Told::new);
    }

    /// The recorded exchange, or null when there is none left.
    @Nullable
    RecordedExchange find(Endpoint remote, UdpDatagram datagram) {
        Question question = DnsForm.question(datagram.payload());
        int id = question.dns() ? DnsForm.id(datagram.payload()) : 0;
        var key = new Asked(datagram.sourcePort(), id, remote, question);
        RecordedExchange again = question.dns() ? asked.get(key) : null;
        RecordedExchange answer = again == null ? unused(remote, question) : repetition(again);
        if (answer == null && remote.port() == RecordedExchange.DNS_PORT) {
            answer = onceMore(told(remote), question);
        }
        if (answer != null && question.dns() && (again != null || asked.size() < REPEATS_MAX)) {
            asked.put(key, answer);
        }
        if (answer != null) {
            told(remote).sent.merge(question, 1L, Long::sum);
        }
        return answer;
    }

    private @Nullable RecordedExchange unused(Endpoint remote, Question question) {
        RecordedExchange repeat = null;
        for (RecordedExchange each : told(remote).recorded(question)) {
            if (used.contains(each)) {
                continue;
            }
            if (!each.isRepeat()) {
                used.add(each);
                return each;
            }
            repeat = repeat == null ? each : repeat;
        }
        if (repeat != null) {
            used.add(repeat); // what looked like a repetition may have come from another socket on the same port
        }
        return repeat;
    }

    private RecordedExchange repetition(RecordedExchange before) {
        RecordedExchange next = before.repeated;
        if (next == null) {
            return before;
        }
        used.add(next);
        return next;
    }

    /// The last of the same questions that was answered, as long as the endpoints at its name may be asked
    /// more; null if there is none.
    private @Nullable RecordedExchange onceMore(Told resolver, Question question) {
        if (question.name() == null || resolver.recorded(question).isEmpty() || resolver.more(question) >= MORE_MAX) {
            return null;
        }
        List<Endpoint> endpoints = resolver.endpoints(question);
        boolean goesOn = endpoints.stream().allMatch(each -> shelves.apply(each) != null || !cassette.isAccepted(each))
                && endpoints.stream().map(shelves).filter(Objects::nonNull).anyMatch(HttpShelf::isAnyLeft);
        return !goesOn
                ? null
                : resolver.recorded(question).reversed().stream()
                        .filter(each -> answers(each).findAny().isPresent())
                        .findFirst()
                        .orElse(null);
    }

    /// Names that were looked up more or less often than in the recording, by no more than there were more or
    /// less connections to the endpoints that they lead to, nor in all to all of these; and who was asked,
    /// where the recording and the replay differ in nothing else.
    ///
    /// @param moved what was asked over other connections
    CassettePeer.LookedUp lookedUp(List<CassettePeer.Moved> moved) {
        var resolvers = new HashMap<Endpoint, Set<String>>();
        var less = new TreeMap<Integer, Long>();
        var more = new TreeMap<Integer, Long>();
        for (Endpoint remote : moved.isEmpty() || dropped ? Set.<Endpoint>of() : cassette.toldEndpoints()) {
            Told resolver = told(remote);
            List<Question> odd = resolver.odd();
            if (remote.port() == RecordedExchange.DNS_PORT
                    && !resolver.missed
                    && !odd.isEmpty()
                    && odd.size() <= ODD_MAX
                    && odd.stream().allMatch(each -> isOfConnections(resolver, each, moved))) {
                var names = new HashSet<String>();
                for (Question each : odd) {
                    Name name = Objects.requireNonNull(each.name());
                    names.add(name.text());
                    more.merge(name.type(), Math.max(0, resolver.more(each)), Long::sum);
                    less.merge(name.type(), Math.max(0, -resolver.more(each)), Long::sum);
                }
                resolvers.put(remote, names);
            }
        }
        long opened = moved.stream()
                .mapToLong(each -> Math.max(0, each.replayed() - each.recorded()))
                .sum();
        long saved = moved.stream()
                .mapToLong(each -> Math.max(0, each.recorded() - each.replayed()))
                .sum();
        boolean tooMany = more.values().stream().anyMatch(each -> each > opened)
                || less.values().stream().anyMatch(each -> each > saved);
        return tooMany
                ? new CassettePeer.LookedUp(Map.of(), 0, 0)
                : new CassettePeer.LookedUp(resolvers, sum(less), sum(more));
    }

    private static long sum(Map<Integer, Long> byType) {
        return byType.values().stream().mapToLong(Long::longValue).sum();
    }

    private boolean isOfConnections(Told resolver, Question question, List<CassettePeer.Moved> moved) {
        List<Endpoint> endpoints = resolver.endpoints(question);
        long connections = moved.stream()
                .filter(each -> endpoints.contains(each.remote()))
                .mapToLong(each -> each.replayed() - each.recorded())
                .sum();
        long more = resolver.more(question);
        return resolver.isOnlyForm(question)
                && resolver.sent.containsKey(question)
                && endpoints.stream().allMatch(this::isSettled)
                && (more > 0 ? more <= connections : more >= connections);
    }

    /// Whether nothing was said there, or all that was recorded of it, and nothing else.
    private boolean isSettled(Endpoint remote) {
        HttpShelf shelf = shelves.apply(remote);
        return shelf == null ? !cassette.isAccepted(remote) : shelf.isWhole();
    }

    /// The answers that are about what was asked.
    private Stream<DnsMessage> answers(RecordedExchange exchange) {
        Name name = exchange.question().name();
        return exchange.answers().stream()
                .map(this::read)
                .filter(Objects::nonNull)
                .filter(each -> name != null && each.name().equals(name.text()) && each.type() == name.type());
    }

    private @Nullable DnsMessage read(RecordedExchange.Place place) {
        try {
            return DnsMessage.parse(cassette.answer(place));
        } catch (IOException e) {
            throw new UncheckedIOException("the captured frames can no longer be read", e);
        }
    }

    /// The miss of a datagram without an answer.
    Miss miss(Endpoint remote, byte[] payload) {
        told(remote).missed = true;
        Question question = DnsForm.question(payload);
        var actual = new Content(question.digest(), question.bytes());
        Kind kind = question.dns() ? Kind.DNS : Kind.DATAGRAM;
        for (RecordedExchange each : cassette.exchanges(remote)) {
            if (!used.contains(each)) {
                var expected =
                        new Content(each.question().digest(), each.question().bytes());
                return new Miss(kind, "udp", remote, "no recorded datagram has this content", expected, actual, null);
            }
        }
        return new Miss(kind, "udp", remote, "every recorded datagram is used", null, actual, null);
    }
}
