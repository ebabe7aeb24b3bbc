package blackbox.recorder.net;

import blackbox.schemas.event.Endpoint;
import blackbox.schemas.event.Event;
import blackbox.schemas.event.EventHeader;
import blackbox.schemas.event.Source;
import blackbox.schemas.net.DnsMessage;
import blackbox.schemas.net.TcpHeader;
import blackbox.schemas.row.Text;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Folds frames into flows and DNS questions, and returns them as host events. Owned by one thread and
/// bounded: when a table is full, its oldest entry is reported early (`evicted`), and counted anew if it
/// continues. Of the ClientHellos that are not whole yet, only so much is held ([ClientHellos]): where the server
/// name was not read for that, the flow's event says so (`unread`).
///
/// A flow is reported twice: with no bytes when it is first seen (`open`), and with its counts when it is
/// over, idle for [#IDLE], or at the end of the run. The direction comes from the hypervisor, not from the
/// frame.
public final class FlowTable {

    static final Duration IDLE = Duration.ofSeconds(60);
    static final int FLOWS_MAX = 16_384;
    private static final int NAMES_MAX = 16_384;
    private static final int QUESTIONS_MAX = 1_024;

    /// Which way a frame went.
    public enum Direction {
        /// From the guest.
        OUT,
        /// To the guest.
        IN
    }

    private record Question(int id, Flow.Key key) {}

    private final Map<Flow.Key, Flow> flows = new LinkedHashMap<>();
    private final ClientHellos hellos = new ClientHellos();
    private final Map<String, String> names = new LinkedHashMap<>();
    private final Map<Question, DnsMessage> questions = new LinkedHashMap<>();
    private long swept;

    /// Takes a frame seen at `nowNs` (nanoseconds since the epoch) and returns the events that it completes.
    public List<Event> add(byte[] frame, Direction direction, long nowNs) {
        var events = new ArrayList<Event>();
        Packet packet = Packet.parse(frame);
        boolean out = direction == Direction.OUT;
        Flow.Key key = new Flow.Key(
                packet.protocol(),
                out ? packet.source() : packet.destination(),
                out ? packet.destination() : packet.source());
        fold(packet, key, out, nowNs, events);
        dns(packet, key, out, nowNs, events);
        sweep(nowNs, events);
        return events;
    }

    private void fold(Packet packet, Flow.Key key, boolean out, long nowNs, List<Event> events) {
        Flow flow = flows.get(key);
        boolean again = flow != null && flow.isOver() && (packet.tcpFlags() & TcpHeader.SYN) != 0;
        if (again && flow != null) {
            flows.remove(key);
            events.add(ended(flow, nowNs, flow.ending()));
        }
        if (flow == null || again) {
            evictOldest(nowNs, events);
            flow = new Flow(key);
            flow.host = nameOf(key.remote());
            flows.put(key, flow);
            events.add(event(flow, nowNs, "open"));
        }
        flow.add(packet, out, nowNs);
        if (out && flow.awaitsHello() && packet.payload().length > 0) {
            hellos.add(flow, packet.payload());
        }
    }

    private void evictOldest(long nowNs, List<Event> events) {
        if (flows.size() >= FLOWS_MAX) {
            Iterator<Flow> oldest = flows.values().iterator();
            events.add(ended(oldest.next(), nowNs, "evicted"));
            oldest.remove();
        }
    }

    private void dns(Packet packet, Flow.Key key, boolean out, long nowNs, List<Event> events) {
        Endpoint remote = key.remote();
        if (!key.protocol().equals("udp") || remote == null || remote.port() != 53) {
            return;
        }
        DnsMessage message = DnsMessage.parse(packet.payload());
        if (message == null) {
            return;
        }
        var question = new Question(message.id(), key);
        if (out && !message.isResponse()) {
            evictQuestion(nowNs, events);
            questions.put(question, message);
        } else if (!out && message.isResponse() && questions.remove(question) != null) {
            message.answers().forEach(answer -> remember(answer, message.name()));
            events.add(event(message, key, nowNs));
        }
    }

    private void evictQuestion(long nowNs, List<Event> events) {
        if (questions.size() >= QUESTIONS_MAX) {
            var oldest = questions.entrySet().iterator();
            var entry = oldest.next();
            events.add(event(entry.getValue(), entry.getKey().key(), nowNs));
            oldest.remove();
        }
    }

    private void remember(String answer, String name) {
        if (names.size() >= NAMES_MAX) {
            var oldest = names.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
        names.put(answer, name);
    }

    private @Nullable String nameOf(@Nullable Endpoint endpoint) {
        return endpoint == null ? null : names.get(endpoint.ip());
    }

    private void sweep(long nowNs, List<Event> events) {
        if (nowNs - swept < 1_000_000_000L) {
            return;
        }
        swept = nowNs;
        for (Iterator<Flow> i = flows.values().iterator(); i.hasNext(); ) {
            Flow flow = i.next();
            long quietNs = nowNs - flow.lastSeenNs;
            if (quietNs > IDLE.toNanos() || flow.isOver() && quietNs > 1_000_000_000L) {
                events.add(ended(flow, nowNs, flow.isOver() ? flow.ending() : "idle"));
                i.remove();
            }
        }
    }

    /// Ends the run: everything that is still open is reported.
    public List<Event> close(long nowNs) {
        var events = new ArrayList<Event>();
        questions.forEach((question, message) -> events.add(event(message, question.key(), nowNs)));
        flows.values().forEach(flow -> events.add(ended(flow, nowNs, flow.ending())));
        questions.clear();
        flows.clear();
        return events;
    }

    /// How many octets of ClientHellos are held.
    int helloBytes() {
        return hellos.bytes();
    }

    private Event ended(Flow flow, long nowNs, String what) {
        hellos.forget(flow);
        return event(flow, nowNs, what);
    }

    private static Event event(DnsMessage message, Flow.Key key, long nowNs) {
        return new Event.DnsQuery(
                EventHeader.host(nowNs),
                Text.of(message.name()),
                message.type(),
                message.answers().stream().map(Text::of).toList(),
                key.protocol(),
                key.local(),
                key.remote());
    }

    private static Event event(Flow flow, long nowNs, String what) {
        String host = flow.host;
        return new Event.NetFlow(
                new EventHeader(nowNs, Source.HOST, null, null, flow.marks()),
                flow.key.protocol(),
                flow.key.local(),
                flow.key.remote(),
                host == null ? null : Text.of(host),
                flow.bytesOut(),
                flow.bytesIn(),
                flow.packetsOut(),
                flow.packetsIn(),
                what);
    }
}
