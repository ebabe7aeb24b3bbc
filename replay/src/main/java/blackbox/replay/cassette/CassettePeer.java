package blackbox.replay.cassette;

import blackbox.gateway.packet.IcmpMessage;
import blackbox.gateway.packet.IpPacket;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.packet.UdpDatagram;
import blackbox.gateway.tls.RunAuthority;
import blackbox.replay.cassette.Miss.Content;
import blackbox.replay.cassette.Miss.Kind;
import blackbox.replay.request.DrawnIds;
import blackbox.replay.request.IdPlace;
import blackbox.schemas.Hash;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.IpAddress;
import blackbox.schemas.net.Octets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Everything that a re-executed guest can reach: gateway, name server and every remote address, played from
/// a [Cassette]. Frames come in through [#frame] and go out to a sink; the caller passes the time. What was
/// not recorded is refused (RST, SERVFAIL, port unreachable) and reported. Owned by one thread.
///
/// Frames arrive over a link that neither loses nor damages them, so the guest's checksums are not checked.
public final class CassettePeer {
    private static final int ARP = 0x0806;
    private static final int ARP_BYTES = 42;
    /// QEMU's user network pads its replies to this length, and byte counts are compared.
    private static final int ARP_REPLY_BYTES = 64;
    private static final int NEIGHBOUR_SOLICITATION = 135;
    private static final int NEIGHBOUR_ADVERTISEMENT = 136;
    private static final int ICMP_PORT_UNREACHABLE = 3 << 8 | 3;
    private static final int ICMP6_PORT_UNREACHABLE = 1 << 8 | 4;
    private static final int CONNECTIONS_MAX = 16_384;
    private static final int SEQUENCE_STEP = 64_009;
    /// QEMU's user network's own addresses, which exist whether or not the recorded guest asked for them.
    private static final Set<String> HOUSE = Set.of("10.0.2.2", "10.0.2.3", "fec0::2", "fec0::3", "fe80::2", "fe80::3");
    /// The Ethernet address of everybody but the guest: that of QEMU's gateway.
    private static final byte[] MAC = {0x52, 0x55, 0x0a, 0x00, 0x02, 0x02};

    private final Cassette cassette;
    private final Consumer<byte[]> frames;
    private final Consumer<Miss> misses;
    private final @Nullable RunAuthority authority;
    private final ConnectionMatcher matcher;
    private final ConnectionMatcher inTls;
    private final DatagramAnswers datagrams;
    /// What can be asked over any connection, by endpoint.
    private final Map<Endpoint, Optional<HttpShelf>> shelves = new HashMap<>();
    private final DrawnIds ids;
    private final Map<Flow, PeerConnection> connections = new HashMap<>();
    /// Connections that were never opened, so that a repeated SYN is recognized.
    private final Map<Flow, Unopened> unopened = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Flow, Unopened> eldest) {
            return size() > CONNECTIONS_MAX;
        }
    };

    private byte[] guestMac = {-1, -1, -1, -1, -1, -1};
    private final List<TlsConversation> opened = new ArrayList<>();
    private int sequence = 1;
    private long missed;

    private record Flow(Endpoint local, Endpoint remote) {}

    private record Unopened(int sequence, RecordedConnection recorded) {}

    /// @param authority that the guest trusts, to open TLS where it was opened; null if it never was
    /// @param frames takes Ethernet frames for the guest
    /// @param misses receives what was refused
    public CassettePeer(
            Cassette cassette, @Nullable RunAuthority authority, Consumer<byte[]> frames, Consumer<Miss> misses) {
        this.cassette = cassette;
        this.ids = new DrawnIds(new CassetteWords(cassette));
        this.authority = authority;
        this.frames = frames;
        this.misses = miss -> {
            missed++;
            shelf(miss.remote()).ifPresent(HttpShelf::miss);
            misses.accept(miss);
        };
        this.matcher = new ConnectionMatcher(cassette::connections);
        this.inTls = new ConnectionMatcher(cassette::conversations);
        this.datagrams = new DatagramAnswers(cassette, remote -> shelf(remote).orElse(null));
    }

    /// What has been played.
    ///
    /// @param unusedConnections recorded connections that the guest did not ask for
    /// @param unusedDatagrams recorded datagrams that it did not send
    /// @param missed how much was refused
    /// @param moved what was asked over other connections than in the recording
    /// @param lookedUp names of these that were looked up more or less often than in the recording
    /// @param turned what came in another order than in the recording
    /// @param opened endpoints in whose TLS all that was recorded was said and heard, whole, and nothing else;
    ///     every endpoint to which TLS was opened, if something was refused
    /// @param standIns where ids stood for others
    /// @param ids the replay's, by the recorded ones that they stand for
    public record Played(
            int connections,
            int unusedConnections,
            int datagrams,
            int unusedDatagrams,
            long missed,
            List<Moved> moved,
            LookedUp lookedUp,
            List<Turned> turned,
            Set<Endpoint> opened,
            List<StandIns> standIns,
            Map<String, String> ids) {}

    /// An endpoint that was sent ids which stood for recorded ones.
    ///
    /// @param requests in how many, by where they were
    public record StandIns(Endpoint remote, Map<IdPlace, Long> requests) {
        public StandIns {
            requests = Collections.unmodifiableMap(new EnumMap<>(requests));
        }
    }

    /// An endpoint of which all that was recorded was asked and answered, whole, and nothing else, but over other
    /// connections.
    ///
    /// @param requests how many went over another connection than the one before them on the recorded one, or
    ///     shared a connection with others than there
    /// @param recorded how many connections the recording has
    /// @param replayed how many there were
    public record Moved(Endpoint remote, long requests, int recorded, int replayed) {}

    /// Names that lead to [Moved] endpoints alone, and were looked up more or less often than in the recording.
    ///
    /// @param resolvers who was asked for which names, in lower case, if the recording and the replay differ in
    ///     nothing else that was sent there
    /// @param less how many recorded questions were not asked
    /// @param more how many were asked that were not recorded, and are answered as one of the same was
    public record LookedUp(Map<Endpoint, Set<String>> resolvers, long less, long more) {
        public LookedUp {
            resolvers = Map.copyOf(resolvers);
        }

        /// The names.
        public Set<String> names() {
            return resolvers.values().stream().flatMap(Set::stream).collect(Collectors.toCollection(TreeSet::new));
        }
    }

    /// An endpoint to which not all came in the recorded order.
    ///
    /// @param held how many requests came before others that were over when they were recorded, and were held back
    /// @param late how many answers were not given in the recorded order
    public record Turned(Endpoint remote, long held, long late) {}

    /// What has been played so far.
    public Played played() {
        int used = matcher.used();
        int told = datagrams.used();
        List<Moved> moved = ofShelves(HttpShelf::moved, Moved::remote);
        return new Played(
                used,
                cassette.connectionCount() - used,
                told,
                cassette.exchangeCount() - told,
                missed,
                moved,
                datagrams.lookedUp(moved),
                ofShelves(HttpShelf::turned, Turned::remote),
                opened.stream()
                        .map(TlsConversation::remote)
                        .distinct()
                        .filter(this::isTold)
                        .collect(Collectors.toSet()),
                ofShelves(HttpShelf::standIns, StandIns::remote),
                ids.all());
    }

    private <T> List<T> ofShelves(Function<HttpShelf, @Nullable T> what, Function<T, Endpoint> remote) {
        return shelves.values().stream()
                .flatMap(Optional::stream)
                .map(what)
                .filter(Objects::nonNull)
                .sorted(Comparator.comparing(each -> remote.apply(each).toString()))
                .toList();
    }

    /// Takes a frame from the guest.
    public void frame(byte[] frame, long nowNs) {
        if (frame.length >= ARP_BYTES && Octets.u16(frame, 12) == ARP) {
            arp(frame);
            return;
        }
        IpPacket packet = IpPacket.parse(frame);
        if (packet == null) {
            datagrams.drop();
            return; // on QEMU's network, too, nobody answers what is neither ARP nor IP
        }
        guestMac = Arrays.copyOfRange(frame, 6, 12);
        if (packet.fragment()) {
            refuse(packet, "ip", "IP fragments are not served");
            return;
        }
        switch (packet.protocol()) {
            case IpPacket.TCP -> tcp(packet, nowNs);
            case IpPacket.UDP -> udp(packet);
            case IpPacket.ICMP, IpPacket.ICMP6 -> icmp(packet);
            default -> {
                if (!isMulticast(packet)) {
                    refuse(packet, "ip", "IP protocol " + packet.protocol() + " is not served");
                }
            }
        }
    }

    /// Does what is due at `nowNs`; returns when it must be called again, or [Long#MAX_VALUE] if it need not
    /// be.
    public long tick(long nowNs) {
        long first = PeerConnection.NO_TIMER;
        for (Optional<HttpShelf> shelf : shelves.values()) {
            first = Math.min(first, shelf.isPresent() ? goOn(shelf.get(), nowNs) : PeerConnection.NO_TIMER);
        }
        for (var each = connections.values().iterator(); each.hasNext(); ) {
            PeerConnection connection = each.next();
            connection.tick(nowNs);
            if (connection.closed()) {
                each.remove();
            } else {
                first = Math.min(first, connection.timerNs());
            }
        }
        return first;
    }

    /// Lets connections go on that had to wait for others to the same endpoint. Returns when that must be done
    /// again, or [PeerConnection#NO_TIMER].
    private long goOn(HttpShelf shelf, long nowNs) {
        long due = shelf.tick(nowNs);
        while (shelf.takeChanged()) {
            connections.forEach((flow, connection) -> {
                if (flow.remote().equals(shelf.remote())) {
                    connection.resume(nowNs);
                }
            });
            shelf.letGo();
            due = shelf.tick(nowNs);
        }
        return due;
    }

    private void arp(byte[] frame) {
        byte[] target = Arrays.copyOfRange(frame, 38, 42);
        if (frame[21] != 1 || !isThere(target)) {
            return;
        }
        byte[] sender = Arrays.copyOfRange(frame, 22, 32);
        var reply = new byte[ARP_REPLY_BYTES];
        System.arraycopy(frame, 6, reply, 0, 6);
        System.arraycopy(MAC, 0, reply, 6, 6);
        System.arraycopy(frame, 12, reply, 12, 8);
        reply[21] = 2;
        System.arraycopy(MAC, 0, reply, 22, 6);
        System.arraycopy(target, 0, reply, 28, 4);
        System.arraycopy(sender, 0, reply, 32, 10);
        frames.accept(reply);
    }

    private boolean isThere(byte[] address) {
        String text = IpAddress.text(address);
        return HOUSE.contains(text) || cassette.isNeighbour(text);
    }

    private void tcp(IpPacket packet, long nowNs) {
        TcpSegment segment = TcpSegment.parse(packet.payload());
        if (segment == null) {
            return;
        }
        var flow = new Flow(
                new Endpoint(IpAddress.text(packet.source()), segment.sourcePort()),
                new Endpoint(IpAddress.text(packet.destination()), segment.destinationPort()));
        PeerConnection connection = connections.get(flow);
        boolean opens = segment.is(TcpSegment.SYN) && !segment.is(TcpSegment.ACK);
        if (opens && (connection == null || !connection.isOpenedBy(segment))) {
            if (connection != null) {
                connection.close();
                connections.remove(flow);
            }
            open(flow, packet, segment, nowNs);
        } else if (connection != null) {
            connection.take(segment, nowNs);
            if (connection.closed()) {
                connections.remove(flow);
            }
            shelf(flow.remote()).ifPresent(shelf -> goOn(shelf, nowNs));
        } else if (!segment.is(TcpSegment.RST)) {
            reset(packet, segment);
        }
    }

    private void open(Flow flow, IpPacket packet, TcpSegment syn, long nowNs) {
        Unopened before = unopened.get(flow);
        if (before != null && before.sequence() == syn.sequence()) {
            refuse(before.recorded(), packet, syn);
            return;
        }
        RecordedConnection recorded = matcher.peek(flow.remote());
        HttpShelf shelf = shelf(flow.remote()).orElse(null);
        boolean more = recorded == null && shelf != null && shelf.isAnyLeft();
        if (recorded == null && !more || connections.size() >= CONNECTIONS_MAX) {
            String why = unavailable(flow.remote(), recorded == null);
            misses.accept(new Miss(Kind.CONNECT, "tcp", flow.remote(), why, null, null, null));
            reset(packet, syn);
            return;
        }
        if (recorded == null || recorded.opening == RecordedConnection.Opening.ACCEPTED) {
            sequence += SEQUENCE_STEP;
            if (recorded != null && (shelf != null || cassette.tls(flow.remote()) != null)) {
                matcher.use(recorded);
            }
            connections.put(
                    flow,
                    new PeerConnection(syn, sequence, conversation(flow.remote(), shelf), wire(packet, syn), nowNs));
        } else {
            matcher.use(recorded);
            unopened.put(flow, new Unopened(syn.sequence(), recorded));
            refuse(recorded, packet, syn);
        }
    }

    private boolean isTold(Endpoint remote) {
        TlsEndpoint tls = cassette.tls(remote);
        return missed > 0
                || tls != null
                        && tls.onlyTls()
                        && shelf(remote).map(HttpShelf::isWhole).orElseGet(() -> inTls.isUsedUp(remote))
                        && opened.stream()
                                .filter(each -> each.remote().equals(remote))
                                .allMatch(TlsConversation::isWhole);
    }

    private Conversation conversation(Endpoint remote, @Nullable HttpShelf shelf) {
        TlsEndpoint tls = cassette.tls(remote);
        RunAuthority opening = authority;
        if (tls == null || opening == null) {
            return shelf == null ? new Claim(matcher, remote) : new HttpClaim(shelf);
        }
        var conversation = new TlsConversation(
                remote, tls, opening, () -> shelf == null ? new Claim(inTls, remote) : new HttpClaim(shelf));
        opened.add(conversation);
        return conversation;
    }

    private Optional<HttpShelf> shelf(Endpoint remote) {
        List<RecordedConnection> recorded = cassette.conversations(remote);
        return recorded.isEmpty()
                ? Optional.empty()
                : shelves.computeIfAbsent(remote, _ -> Optional.ofNullable(HttpShelf.of(remote, recorded, ids)));
    }

    private String unavailable(Endpoint remote, boolean used) {
        int known = cassette.connections(remote).size();
        if (!used) {
            return "more than " + CONNECTIONS_MAX + " connections at once";
        }
        return known == 0
                ? "no connection to this address and port was recorded"
                : "all recorded connections to it are used (" + known + ")";
    }

    private void refuse(RecordedConnection recorded, IpPacket packet, TcpSegment syn) {
        switch (recorded.opening) {
            case REFUSED -> reset(packet, syn);
            case UNREACHABLE -> unreachable(packet, recorded.unreachable);
            case UNANSWERED, ACCEPTED -> {} // silence is the answer
        }
    }

    private PeerConnection.Wire wire(IpPacket syn, TcpSegment ports) {
        byte[] guest = syn.source();
        byte[] here = syn.destination();
        return new PeerConnection.Wire() {
            @Override
            public void send(int sequence, int acknowledgement, int flags, int window, int mss, byte[] payload) {
                var segment = ports.answer(sequence, acknowledgement, flags, window, mss, payload);
                CassettePeer.this.send(segment.packet(here, guest));
            }

            @Override
            public Consumer<Miss> misses() {
                return misses;
            }
        };
    }

    /// Answers a segment that belongs to no connection (RFC 9293 section 3.10.7.1).
    private void reset(IpPacket packet, TcpSegment segment) {
        boolean acknowledges = segment.is(TcpSegment.ACK);
        var answer = segment.answer(
                acknowledges ? segment.acknowledgement() : 0,
                acknowledges ? 0 : segment.end(),
                acknowledges ? TcpSegment.RST : TcpSegment.RST | TcpSegment.ACK,
                0,
                0,
                new byte[0]);
        byte[] here = packet.destination();
        send(answer.packet(here, packet.source()));
    }

    private void udp(IpPacket packet) {
        UdpDatagram datagram = UdpDatagram.parse(packet.payload());
        if (datagram == null) {
            datagrams.drop();
            return;
        }
        var remote = new Endpoint(IpAddress.text(packet.destination()), datagram.destinationPort());
        RecordedExchange exchange = datagrams.find(remote, datagram);
        if (exchange != null) {
            answer(packet, datagram, exchange);
            return;
        }
        misses.accept(datagrams.miss(remote, datagram.payload()));
        byte[] failure = DnsForm.failure(datagram.payload());
        if (failure != null) {
            reply(packet, datagram, failure);
        } else if (!isMulticast(packet)) {
            unreachable(packet, packet.source().length == 4 ? ICMP_PORT_UNREACHABLE : ICMP6_PORT_UNREACHABLE);
        }
    }

    private void answer(IpPacket packet, UdpDatagram datagram, RecordedExchange exchange) {
        try {
            for (RecordedExchange.Place place : exchange.answers()) {
                byte[] answer = cassette.answer(place);
                boolean dns = exchange.question().dns() && answer.length >= 2;
                reply(packet, datagram, dns ? DnsForm.withId(answer, DnsForm.id(datagram.payload())) : answer);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the captured frames can no longer be read", e);
        }
        if (exchange.unreachable != 0) {
            unreachable(packet, exchange.unreachable);
        }
    }

    private void reply(IpPacket packet, UdpDatagram datagram, byte[] payload) {
        byte[] here = packet.destination();
        send(datagram.answer(payload).packet(here, packet.source()));
    }

    private void icmp(IpPacket packet) {
        IcmpMessage message = IcmpMessage.of(packet);
        if (message == null) {
            return;
        }
        if (message.isEchoRequest()) {
            Boolean answered = cassette.echo(IpAddress.text(packet.destination()));
            if (answered == null) {
                refuse(packet, "icmp", "the recorded run did not ping this address");
            } else if (answered) {
                byte[] here = packet.destination();
                send(message.reply().packet(here, packet.source()));
            }
        } else if (message.type() == NEIGHBOUR_SOLICITATION && message.body().length >= 20) {
            solicited(packet, Arrays.copyOfRange(message.body(), 4, 20));
        }
    }

    /// Answers a neighbour solicitation for `target` with our Ethernet address (RFC 4861 section 4.4).
    private void solicited(IpPacket packet, byte[] target) {
        if (!isThere(target)) {
            return;
        }
        var body = new byte[28];
        body[0] = (byte) 0xe0;
        System.arraycopy(target, 0, body, 4, 16);
        body[20] = 2;
        body[21] = 1;
        System.arraycopy(MAC, 0, body, 22, 6);
        send(new IcmpMessage(IpPacket.ICMP6, NEIGHBOUR_ADVERTISEMENT, 0, body).packet(target, packet.source()));
    }

    private void refuse(IpPacket packet, String protocol, String why) {
        var actual = new Content(Hash.sha256(packet.payload()), packet.payload().length);
        var remote = new Endpoint(IpAddress.text(packet.destination()), 0);
        misses.accept(new Miss(Kind.DATAGRAM, protocol, remote, why, null, actual, null));
    }

    private void unreachable(IpPacket packet, int typeAndCode) {
        // It comes from the gateway, because nobody has the address that was asked for.
        byte[] gateway = Octets.ofAddress(packet.source().length == 4 ? "10.0.2.2" : "fec0::2");
        send(IcmpMessage.unreachable(packet, typeAndCode).packet(gateway, packet.source()));
    }

    private static boolean isMulticast(IpPacket packet) {
        byte[] to = packet.destination();
        return to.length == 16 ? to[0] == -1 : (to[0] & 0xf0) == 0xe0 || to[0] == -1;
    }

    private void send(IpPacket packet) {
        frames.accept(packet.frame(guestMac, MAC));
    }
}
