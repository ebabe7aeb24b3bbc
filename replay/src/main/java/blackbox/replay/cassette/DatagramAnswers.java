package blackbox.replay.cassette;

import blackbox.gateway.packet.UdpDatagram;
import blackbox.replay.cassette.Miss.Content;
import blackbox.replay.cassette.Miss.Kind;
import blackbox.replay.cassette.RecordedExchange.Question;
import blackbox.schemas.event.Endpoint;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Finds the answer to a datagram: each recorded one is used once, in the order of the recording. Only a DNS
/// question may be repeated from the same port with the same id, as resolvers do: it then gets what the recorded
/// repetition got, and once those are used up, the last answer again. Owned by one thread.
final class DatagramAnswers {
    private static final int REPEATS_MAX = 65_536;

    private final Cassette cassette;
    private final Set<RecordedExchange> used = new HashSet<>();
    private final Map<Asked, RecordedExchange> asked = new HashMap<>();

    private record Asked(int port, int id, Endpoint remote, Question question) {}

    DatagramAnswers(Cassette cassette) {
        this.cassette = cassette;
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
        RecordedExchange found = again == null ? unused(remote, question) : repetition(again);
        if (found != null && question.dns() && (again != null || asked.size() < REPEATS_MAX)) {
            asked.put(key, found);
        }
        return found;
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

    /// The miss of a datagram without an answer.
    Miss miss(Endpoint remote, byte[] payload) {
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
