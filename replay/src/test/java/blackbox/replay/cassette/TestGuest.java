package blackbox.replay.cassette;

import blackbox.gateway.packet.IpPacket;
import blackbox.gateway.packet.TcpSegment;
import blackbox.schemas.event.Endpoint;
import blackbox.schemas.net.Octets;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/// A guest's network in a few lines, over a link that may lose, repeat and swap frames: opens connections,
/// says its turns when it has heard what comes before, sends again what is not acknowledged. Time passes when
/// nothing moves.
public final class TestGuest {
    private static final int IDLE_STEPS_MAX = 300;
    private static final long STEP_NS = 100_000_000;

    private final Random random;
    private final int troubleInHundred;
    private final CassettePeer peer;
    private final ArrayDeque<byte[]> toGuest = new ArrayDeque<>();
    private final List<Connection> connections = new ArrayList<>();
    public final List<Miss> misses = new ArrayList<>();
    final List<byte[]> received = new ArrayList<>();
    private long nowNs;

    public TestGuest(Cassette cassette, Random random, int troubleInHundred) {
        this.random = random;
        this.troubleInHundred = troubleInHundred;
        this.peer = new CassettePeer(cassette, null, this::carry, misses::add);
    }

    public CassettePeer peer() {
        return peer;
    }

    /// One connection, seen from the guest.
    public final class Connection {
        final int port;
        final Endpoint remote;
        final List<Recording.Turn> turns;
        final ByteArrayOutputStream heard = new ByteArrayOutputStream();
        private final byte[] said;
        private int isn = random.nextInt();
        private int remoteFirst;
        boolean opened;
        boolean reset;
        boolean remoteFinished;
        private boolean ended;
        private int acknowledged;

        Connection(int port, Endpoint remote, List<Recording.Turn> turns) {
            this.port = port;
            this.remote = remote;
            this.turns = turns;
            var all = new ByteArrayOutputStream();
            turns.stream().filter(Recording.Turn::guest).forEach(turn -> all.writeBytes(turn.octets()));
            this.said = all.toByteArray();
        }

        /// How much may be said, given what was heard.
        private int sayable() {
            int say = 0;
            int hear = 0;
            for (Recording.Turn turn : turns) {
                if (turn.guest()) {
                    say += turn.octets().length;
                } else {
                    hear += turn.octets().length;
                    if (heard.size() < hear) {
                        return say;
                    }
                }
            }
            return say;
        }

        private boolean done() {
            return ended || reset || remoteFinished && acknowledged >= said.length;
        }

        private void send() {
            if (!opened) {
                segment(isn, 0, TcpSegment.SYN, new byte[0]);
                return;
            }
            int end = sayable();
            for (int at = acknowledged; at < end; ) {
                int count = Math.min(end - at, 1 + random.nextInt(1_400));
                segment(isn + 1 + at, ack(), TcpSegment.ACK, Arrays.copyOfRange(said, at, at + count));
                at += count;
            }
        }

        private int ack() {
            return remoteFirst + heard.size() + (remoteFinished ? 1 : 0);
        }

        /// Ends it in order behind what was acknowledged.
        void finish() {
            segment(isn + 1 + acknowledged, ack(), TcpSegment.ACK | TcpSegment.FIN, new byte[0]);
            ended = true;
        }

        /// Breaks it off.
        void abort() {
            segment(isn + 1 + acknowledged, ack(), TcpSegment.ACK | TcpSegment.RST, new byte[0]);
            ended = true;
        }

        private void take(TcpSegment segment) {
            reset |= segment.is(TcpSegment.RST);
            if (segment.is(TcpSegment.SYN)) {
                opened = true;
                remoteFirst = segment.sequence() + 1;
            }
            if (segment.is(TcpSegment.ACK) && opened) {
                acknowledged = Math.max(acknowledged, Math.min(said.length, segment.acknowledgement() - isn - 1));
            }
            int known = remoteFirst + heard.size() - segment.sequence();
            if (!segment.is(TcpSegment.SYN) && known >= 0 && known <= segment.payload().length) {
                heard.write(segment.payload(), known, segment.payload().length - known);
                remoteFinished |= segment.is(TcpSegment.FIN);
            }
            if (!reset) {
                segment(isn + 1 + acknowledged, ack(), TcpSegment.ACK, new byte[0]);
            }
        }

        private void segment(int sequence, int ack, int flags, byte[] octets) {
            var segment = new TcpSegment(port, remote.port(), sequence, ack, flags, 20_000, 1_460, octets, 0);
            say(segment.packet(Recording.GUEST, Octets.ofAddress(remote.ip())));
        }
    }

    Connection open(int port, int remotePort, List<Recording.Turn> turns) {
        return open(port, new Endpoint("10.0.2.2", remotePort), turns);
    }

    public Connection open(int port, Endpoint remote, List<Recording.Turn> turns) {
        var connection = new Connection(port, remote, turns);
        connections.add(connection);
        connection.send();
        return connection;
    }

    /// Sends a packet; it may get lost or come twice.
    void say(IpPacket packet) {
        byte[] frame = packet.frame(new byte[6], Recording.GUEST_MAC);
        int times = random.nextInt(100) >= troubleInHundred ? 1 : random.nextInt(3);
        for (int i = 0; i < times; i++) {
            peer.frame(frame, nowNs);
        }
    }

    /// Lets the network work until every connection is done, or nothing more has been heard for half a
    /// minute.
    public void settle() {
        int idle = 0;
        int before = -1;
        while (idle < IDLE_STEPS_MAX && !connections.stream().allMatch(Connection::done)) {
            if (!toGuest.isEmpty()) {
                deliver(toGuest.removeFirst());
                continue;
            }
            int heard = connections.stream().mapToInt(each -> each.heard.size()).sum();
            idle = heard == before ? idle + 1 : 0;
            before = heard;
            nowNs += STEP_NS;
            peer.tick(nowNs);
            connections.stream().filter(each -> !each.done()).forEach(Connection::send);
        }
    }

    /// The same for a few frames.
    void settleSome(int frames) {
        for (int i = 0; i < frames; i++) {
            if (toGuest.isEmpty()) {
                connections.forEach(Connection::send);
            } else {
                deliver(toGuest.removeFirst());
            }
        }
    }

    private void deliver(byte[] frame) {
        received.add(frame);
        IpPacket packet = IpPacket.parse(frame);
        TcpSegment segment =
                packet == null || packet.protocol() != IpPacket.TCP ? null : TcpSegment.parse(packet.payload());
        if (segment != null) {
            connections.stream()
                    .filter(each -> each.port == segment.destinationPort())
                    .forEach(each -> each.take(segment));
        }
    }

    private void carry(byte[] frame) {
        if (random.nextInt(100) >= troubleInHundred) {
            toGuest.addLast(frame);
        } else if (random.nextBoolean()) {
            toGuest.addFirst(frame); // before what was sent earlier
        }
    }

    /// What has arrived and was not processed, as packets.
    List<IpPacket> packets() {
        var packets = new ArrayList<IpPacket>();
        for (byte[] frame = toGuest.pollFirst(); frame != null; frame = toGuest.pollFirst()) {
            IpPacket packet = IpPacket.parse(frame);
            if (packet != null) {
                packets.add(packet);
            }
        }
        return packets;
    }
}
