package blackbox.replay.cassette;

import blackbox.gateway.packet.UdpDatagram;
import blackbox.replay.cassette.Miss.Content;
import blackbox.replay.cassette.Miss.Kind;
import blackbox.replay.cassette.RecordedExchange.Question;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.net.IpAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Finds the answer to a datagram: each recorded one is used once, in the order of the recording. Only a DNS
/// question may be repeated from the same port with the same id, as resolvers do: it then gets what the recorded
/// repetition got, and once those are used up, the last answer again. And who asks more of a peer over other
/// connections
/// than the recorded ones may look up its name once more for each. Owned by one thread.
final class DatagramAnswers {
    private static final int REPEATS_MAX = 65_536;

    private final Cassette cassette;
    private final Predicate<Set<String>> goesOn;
    private final Set<RecordedExchange> used = new HashSet<>();
    private final Map<Asked, RecordedExchange> asked = new HashMap<>();
    /// How often questions were asked beyond what was recorded.
    private final Map<Sought, Long> more = new HashMap<>();
    private final Set<Endpoint> missed = new HashSet<>();
    private final Map<Sought, Found> found = new HashMap<>();

    private record Asked(int port, int id, Endpoint remote, Question question) {}

    private record Sought(Endpoint remote, Question question) {
        static Sought of(RecordedExchange exchange) {
            return new Sought(exchange.remote(), exchange.question());
        }
    }

    /// A name, and the addresses that it leads to; none if anything else was asked, or nothing answered.
    private record Found(String name, Set<String> addresses) {
        static final Found NOTHING = new Found("", Set.of());

        boolean isOf(Set<String> peers) {
            return !addresses.isEmpty() && peers.containsAll(addresses);
        }
    }

    /// @param goesOn whether anything is left that may be asked, over any connection, of what has one of these
    /// addresses
    DatagramAnswers(Cassette cassette, Predicate<Set<String>> goesOn) {
        this.cassette = cassette;
        this.goesOn = goesOn;
    }

    /// How many recorded datagrams were used.
    int used() {
        return used.size();
    }

    /// The recorded exchange, or null when there is none left.
    @Nullable
    RecordedExchange find(Endpoint remote, UdpDatagram datagram) {
        Question question = DnsForm.question(datagram.payload());
        int id = question.dns() ? DnsForm.id(datagram.payload()) : 0;
        var key = new Asked(datagram.sourcePort(), id, remote, question);
        RecordedExchange again = question.dns() ? asked.get(key) : null;
        RecordedExchange answer = again == null ? unused(remote, question) : repetition(again);
        if (answer == null && question.dns()) {
            answer = onceMore(new Sought(remote, question));
        }
        if (answer != null && question.dns() && (again != null || asked.size() < REPEATS_MAX)) {
            asked.put(key, answer);
        }
        return answer;
    }

    private @Nullable RecordedExchange unused(Endpoint remote, Question question) {
        RecordedExchange repeat = null;
        for (RecordedExchange each : cassette.exchanges(remote)) {
            if (!each.question().equals(question) || used.contains(each)) {
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

    /// The last answer to a question that was asked as often as in the recording; null if it may not be asked again.
    private @Nullable RecordedExchange onceMore(Sought sought) {
        List<RecordedExchange> same = same(sought).toList();
        boolean isPeer = !same.isEmpty() && goesOn.test(found(sought).addresses());
        long times = more.getOrDefault(sought, 0L);
        if (!isPeer || times == REPEATS_MAX) {
            return null;
        }
        more.put(sought, times + 1);
        return same.getLast();
    }

    private Stream<RecordedExchange> same(Sought sought) {
        return cassette.exchanges(sought.remote()).stream()
                .filter(each -> each.question().equals(sought.question()));
    }

    /// Names that were looked up more or less often than in the recording, but at least once, and lead to these
    /// addresses alone; and who was asked, where the recording and the replay differ in nothing else.
    CassettePeer.LookedUp lookedUp(Set<String> peers) {
        var resolvers = new HashSet<Endpoint>();
        var names = new HashSet<String>();
        long less = 0;
        long again = 0;
        for (Endpoint remote : cassette.toldEndpoints()) {
            Map<Sought, Long> unused = cassette.exchanges(remote).stream()
                    .filter(each -> !used.contains(each))
                    .collect(Collectors.groupingBy(Sought::of, Collectors.counting()));
            Map<Sought, Long> repeated = more.entrySet().stream()
                    .filter(each -> each.getKey().remote().equals(remote))
                    .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
            Set<Sought> odd = Stream.of(unused, repeated)
                    .flatMap(each -> each.keySet().stream())
                    .collect(Collectors.toSet());
            if (!odd.isEmpty()
                    && !missed.contains(remote)
                    && odd.stream()
                            .allMatch(each ->
                                    found(each).isOf(peers) && same(each).anyMatch(used::contains))) {
                resolvers.add(remote);
                odd.forEach(each -> names.add(found(each).name()));
                less += sum(unused);
                again += sum(repeated);
            }
        }
        return new CassettePeer.LookedUp(resolvers, names, less, again);
    }

    private static long sum(Map<Sought, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    private Found found(Sought sought) {
        return found.computeIfAbsent(sought, _ -> {
            DnsMessage asked = same(sought).flatMap(this::answers).findFirst().orElse(null);
            if (!sought.question().dns() || asked == null || !DnsMessage.isAddress(asked.type())) {
                return Found.NOTHING;
            }
            return new Found(
                    asked.name(),
                    cassette.exchanges(sought.remote()).stream()
                            .filter(each -> each.question().dns())
                            .flatMap(this::answers)
                            .filter(each -> each.name().equals(asked.name()) && DnsMessage.isAddress(each.type()))
                            .flatMap(each -> each.answers().stream())
                            .filter(each -> IpAddress.canonical(each) != null) // there are names of names, too
                            .collect(Collectors.toSet()));
        });
    }

    private Stream<DnsMessage> answers(RecordedExchange exchange) {
        return exchange.answers().stream().map(this::read).filter(Objects::nonNull);
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
        missed.add(remote);
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
