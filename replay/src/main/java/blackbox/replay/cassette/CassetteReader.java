package blackbox.replay.cassette;

import blackbox.gateway.packet.IcmpMessage;
import blackbox.gateway.packet.IpPacket;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.packet.UdpDatagram;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.Octets;
import blackbox.schemas.net.PcapReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Makes a [Cassette] from the two captures of a run: reads both in the order of their times, and follows the
/// connections and datagrams in them. Reads once, on one thread.
final class CassetteReader {
    private static final int ARP = 0x0806;
    private static final int NEIGHBOUR_ADVERTISEMENT = 136;
    private static final int ARP_BYTES = 42;

    private final CapturedFrames out;
    private final CapturedFrames in;
    private final @Nullable CapturedFrames plaintext;
    private final Map<Flow, ConnectionTape> open = new HashMap<>();
    private final List<ConnectionTape> tapes = new ArrayList<>();
    /// The last datagram that the guest sent from a port.
    private final Map<Flow, RecordedExchange> asked = new HashMap<>();
    /// DNS questions by their ids: several may be asked from one port before the first answer comes.
    private final Map<Query, RecordedExchange> questions = new HashMap<>();
    private final List<RecordedExchange> exchanges = new ArrayList<>();
    private final Set<String> neighbours = new HashSet<>();
    private final Map<String, Boolean> echoes = new HashMap<>();
    private long fragments;
    private long frames;

    /// Both ends of a conversation, the guest's first.
    private record Flow(int protocol, Endpoint local, Endpoint remote) {}

    private record Query(Flow flow, int id) {}

    CassetteReader(CapturedFrames out, CapturedFrames in, @Nullable CapturedFrames plaintext) {
        this.out = out;
        this.in = in;
        this.plaintext = plaintext;
    }

    Cassette read() throws IOException {
        try (var sent = new PcapReader(out.open());
                var received = new PcapReader(in.open())) {
            PcapReader.Frame ask = sent.next();
            PcapReader.Frame answer = received.next();
            while (ask != null || answer != null) {
                if (answer == null || ask != null && ask.micros() <= answer.micros()) {
                    take(ask, true);
                    ask = sent.next();
                } else {
                    take(answer, false);
                    answer = received.next();
                }
            }
        }
        tapes.forEach(tape -> tape.connection().hasGap = tape.incomplete());
        List<RecordedConnection> all =
                tapes.stream().map(ConnectionTape::connection).toList();
        return new Cassette(in, all, exchanges, opened(all), neighbours, echoes, limits());
    }

    /// The endpoints to which TLS was opened.
    ///
    /// @param all connections as they were on the wire
    private Map<Endpoint, TlsEndpoint> opened(List<RecordedConnection> all) throws IOException {
        var opened = new LinkedHashMap<Endpoint, List<RecordedConnection>>();
        for (RecordedConnection each : plaintext == null ? List.<RecordedConnection>of() : inTls(plaintext)) {
            opened.computeIfAbsent(each.remote(), _ -> new ArrayList<>()).add(each);
        }
        var endpoints = new HashMap<Endpoint, TlsEndpoint>();
        opened.forEach((remote, connections) -> endpoints.put(
                remote,
                TlsEndpoint.of(
                        connections,
                        all.stream()
                                .filter(each -> each.remote().equals(remote))
                                .toList())));
        return endpoints;
    }

    /// What the connections carried in TLS. Both directions are in one capture, in their order.
    private static List<RecordedConnection> inTls(CapturedFrames capture) throws IOException {
        var current = new HashMap<Flow, ConnectionTape>();
        var all = new ArrayList<ConnectionTape>();
        try (var frames = new PcapReader(capture.open())) {
            long number = 0;
            for (PcapReader.Frame frame = frames.next(); frame != null; frame = frames.next()) {
                IpPacket packet = IpPacket.parse(frame.octets());
                TcpSegment segment = packet == null ? null : TcpSegment.parse(packet.payload());
                if (packet == null || segment == null) {
                    throw new IOException("a frame of what was said in TLS is no TCP segment");
                }
                number++;
                long offset = frame.offset() + packet.payloadAt() + segment.payloadAt();
                Flow flow = flow(packet, segment.sourcePort(), segment.destinationPort(), true);
                ConnectionTape tape = current.get(flow);
                if (segment.is(TcpSegment.SYN) && !segment.is(TcpSegment.ACK)) {
                    var connection = new RecordedConnection(
                            flow.remote(), new RecordedStream(capture), new RecordedStream(capture));
                    tape = new ConnectionTape(connection, segment);
                    current.put(flow, tape);
                    all.add(tape);
                } else if (tape != null) {
                    tape.fromGuest(segment, offset, number);
                } else {
                    ConnectionTape answered =
                            current.get(flow(packet, segment.sourcePort(), segment.destinationPort(), false));
                    if (answered == null) {
                        throw new IOException("what was said in TLS has no beginning");
                    }
                    answered.toGuest(segment, offset, number);
                }
            }
        }
        return all.stream().map(ConnectionTape::connection).toList();
    }

    private List<String> limits() {
        var limits = new ArrayList<String>();
        long incomplete = tapes.stream().filter(ConnectionTape::incomplete).count();
        if (incomplete > 0) {
            limits.add(incomplete + " recorded connections have gaps and end there");
        }
        if (fragments > 0) {
            limits.add(fragments + " recorded IP fragments are not served");
        }
        return limits;
    }

    private void take(PcapReader.@Nullable Frame frame, boolean fromGuest) {
        if (frame == null) {
            return;
        }
        frames++;
        byte[] octets = frame.octets();
        if (!fromGuest && octets.length >= ARP_BYTES && Octets.u16(octets, 12) == ARP && octets[21] == 2) {
            neighbours.add(IpAddress.text(Arrays.copyOfRange(octets, 28, 32)));
            return;
        }
        IpPacket packet = IpPacket.parse(octets);
        if (packet == null) {
            return;
        }
        if (packet.fragment()) {
            fragments++;
            return;
        }
        long payloadAt = frame.offset() + packet.payloadAt();
        switch (packet.protocol()) {
            case IpPacket.TCP -> tcp(packet, payloadAt, fromGuest);
            case IpPacket.UDP -> udp(packet, payloadAt, fromGuest);
            case IpPacket.ICMP, IpPacket.ICMP6 -> icmp(packet, fromGuest);
            default -> {}
        }
    }

    private void tcp(IpPacket packet, long payloadAt, boolean fromGuest) {
        TcpSegment segment = TcpSegment.parse(packet.payload());
        if (segment == null) {
            return;
        }
        Flow flow = flow(packet, segment.sourcePort(), segment.destinationPort(), fromGuest);
        ConnectionTape tape = open.get(flow);
        long offset = payloadAt + segment.payloadAt();
        if (!fromGuest) {
            if (tape != null) {
                tape.toGuest(segment, offset, frames);
            }
            return;
        }
        boolean opens = segment.is(TcpSegment.SYN) && !segment.is(TcpSegment.ACK);
        if (opens && (tape == null || !tape.isOpenedBy(segment))) {
            var connection = new RecordedConnection(flow.remote(), new RecordedStream(out), new RecordedStream(in));
            tape = new ConnectionTape(connection, segment);
            open.put(flow, tape);
            tapes.add(tape);
        } else if (tape != null) {
            tape.fromGuest(segment, offset, frames);
        }
    }

    private void udp(IpPacket packet, long payloadAt, boolean fromGuest) {
        UdpDatagram datagram = UdpDatagram.parse(packet.payload());
        if (datagram == null) {
            return;
        }
        Flow flow = flow(packet, datagram.sourcePort(), datagram.destinationPort(), fromGuest);
        byte[] payload = datagram.payload();
        if (fromGuest) {
            ask(flow, payload);
            return;
        }
        RecordedExchange byId = DnsForm.isAnswer(payload) ? questions.get(new Query(flow, DnsForm.id(payload))) : null;
        RecordedExchange exchange = byId == null ? asked.get(flow) : byId;
        if (exchange != null) {
            long offset = payloadAt + datagram.payloadAt();
            exchange.answered(new RecordedExchange.Place(offset, payload.length));
        }
    }

    private void ask(Flow flow, byte[] payload) {
        var exchange = new RecordedExchange(flow.remote(), DnsForm.question(payload));
        asked.put(flow, exchange);
        exchanges.add(exchange);
        if (exchange.question().dns()) {
            RecordedExchange before = questions.put(new Query(flow, DnsForm.id(payload)), exchange);
            if (before != null && before.question().equals(exchange.question())) {
                before.repeatedBy(exchange);
            }
        }
    }

    private void icmp(IpPacket packet, boolean fromGuest) {
        IcmpMessage message = IcmpMessage.of(packet);
        if (message == null) {
            return;
        }
        if (fromGuest && message.isEchoRequest()) {
            echoes.putIfAbsent(IpAddress.text(packet.destination()), false);
        } else if (!fromGuest && message.isEchoReply()) {
            echoes.put(IpAddress.text(packet.source()), true);
        } else if (!fromGuest && message.type() == NEIGHBOUR_ADVERTISEMENT && message.body().length >= 20) {
            neighbours.add(IpAddress.text(Arrays.copyOfRange(message.body(), 4, 20)));
        } else if (!fromGuest && message.saysUnreachable()) {
            unreachable(message);
        }
    }

    private void unreachable(IcmpMessage message) {
        IpPacket quoted = message.quoted();
        if (quoted == null || quoted.payload().length < 8) {
            return;
        }
        byte[] ports = quoted.payload();
        Flow flow = flow(quoted, Octets.u16(ports, 0), Octets.u16(ports, 2), true);
        ConnectionTape tape = open.get(flow);
        RecordedExchange exchange = asked.get(flow);
        if (tape != null) {
            tape.unreachable(message.typeAndCode());
        } else if (exchange != null) {
            exchange.unreachable = message.typeAndCode();
        }
    }

    private static Flow flow(IpPacket packet, int sourcePort, int destinationPort, boolean fromGuest) {
        var source = new Endpoint(IpAddress.text(packet.source()), sourcePort);
        var destination = new Endpoint(IpAddress.text(packet.destination()), destinationPort);
        return new Flow(packet.protocol(), fromGuest ? source : destination, fromGuest ? destination : source);
    }
}
