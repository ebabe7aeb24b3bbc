package blackbox.replay.cassette;

import blackbox.gateway.packet.IpPacket;
import blackbox.gateway.packet.TcpSegment;
import blackbox.gateway.packet.UdpDatagram;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/// Makes the captures of conversations as a network would have carried them: cut into segments, some of them
/// early, some twice.
public final class Recording {
    static final byte[] GUEST = {10, 0, 2, 15};
    static final byte[] GATEWAY = {10, 0, 2, 2};
    static final byte[] GUEST_MAC = {0x52, 0x54, 0, 0x12, 0x34, 0x56};

    private final TestCapture out = new TestCapture();
    private final TestCapture in = new TestCapture();
    private final Random random;
    private long micros = 1_000_000;

    public Recording(Random random) {
        this.random = random;
    }

    /// What one side says before it listens.
    public record Turn(boolean guest, byte[] octets) {}

    public Cassette cassette() throws IOException {
        return Cassette.read(out, in);
    }

    Cassette cassette(CapturedFrames plaintext) throws IOException {
        return Cassette.read(out, in, plaintext);
    }

    void frame(boolean fromGuest, IpPacket packet) {
        (fromGuest ? out : in).add(micros++, packet.frame(new byte[6], GUEST_MAC));
    }

    void udp(boolean fromGuest, int guestPort, int remotePort, byte[] payload) {
        var datagram = fromGuest
                ? new UdpDatagram(guestPort, remotePort, payload, 0)
                : new UdpDatagram(remotePort, guestPort, payload, 0);
        frame(fromGuest, fromGuest ? datagram.packet(GUEST, GATEWAY) : datagram.packet(GATEWAY, GUEST));
    }

    void refused(int guestPort, int remotePort) {
        int isn = random.nextInt();
        tcp(true, guestPort, remotePort, isn, 0, TcpSegment.SYN, new byte[0]);
        tcp(false, guestPort, remotePort, 0, isn + 1, TcpSegment.RST | TcpSegment.ACK, new byte[0]);
    }

    void unanswered(int guestPort, int remotePort) {
        int isn = random.nextInt();
        tcp(true, guestPort, remotePort, isn, 0, TcpSegment.SYN, new byte[0]);
        tcp(true, guestPort, remotePort, isn, 0, TcpSegment.SYN, new byte[0]);
    }

    /// A connection that carries the turns, and that the remote side then closes.
    public void connection(int guestPort, int remotePort, List<Turn> turns) {
        connection(guestPort, remotePort, turns, true);
    }

    /// A connection that carries the turns, and is still open when the recording ends.
    void openConnection(int guestPort, int remotePort, List<Turn> turns) {
        connection(guestPort, remotePort, turns, false);
    }

    /// Connections that carry two of their turns each, in turns, and are still open when the recording ends.
    void openConnections(int remotePort, List<List<Turn>> all) {
        var open = new ArrayList<Open>();
        int most = all.stream().mapToInt(List::size).max().orElse(0);
        for (int at = 0; at < most; at += 2) {
            for (int i = 0; i < all.size(); i++) {
                if (at == 0) {
                    open.add(new Open(40_000 + i, remotePort));
                }
                for (Turn turn : all.get(i)
                        .subList(
                                Math.min(at, all.get(i).size()),
                                Math.min(at + 2, all.get(i).size()))) {
                    open.get(i).carry(turn);
                }
            }
        }
    }

    /// What is said on one of several connections.
    record Said(int connection, Turn turn) {}

    /// Connections, opened in the order of their numbers, on which this is said in this order; they are still open when
    /// the recording ends.
    void openTogether(int remotePort, List<Said> all) {
        closedTogether(remotePort, all, List.of());
    }

    /// The same, and at last the remote side closes some of them in this order, each after the guest has closed the one
    /// before.
    void closedTogether(int remotePort, List<Said> all, List<Integer> closed) {
        var open = new ArrayList<Open>();
        int last = all.stream().mapToInt(Said::connection).max().orElse(-1);
        for (int i = 0; i <= last; i++) {
            open.add(new Open(40_000 + i, remotePort));
        }
        all.forEach(said -> open.get(said.connection()).carry(said.turn()));
        closed.forEach(connection -> open.get(connection).close());
    }

    private void connection(int guestPort, int remotePort, List<Turn> turns, boolean closes) {
        var open = new Open(guestPort, remotePort);
        turns.forEach(open::carry);
        if (closes) {
            open.close();
        }
    }

    /// A connection that was opened.
    private final class Open {
        private final int guestPort;
        private final int remotePort;
        private int guestSeq = random.nextInt();
        private int remoteSeq = random.nextInt();

        Open(int guestPort, int remotePort) {
            this.guestPort = guestPort;
            this.remotePort = remotePort;
            tcp(true, guestPort, remotePort, guestSeq++, 0, TcpSegment.SYN, new byte[0]);
            tcp(false, guestPort, remotePort, remoteSeq++, guestSeq, TcpSegment.SYN | TcpSegment.ACK, new byte[0]);
            tcp(true, guestPort, remotePort, guestSeq, remoteSeq, TcpSegment.ACK, new byte[0]);
        }

        void carry(Turn turn) {
            int ack = turn.guest() ? remoteSeq : guestSeq;
            for (int[] piece : pieces(turn.octets().length)) {
                byte[] octets = Arrays.copyOfRange(turn.octets(), piece[0], piece[1]);
                int sequence = (turn.guest() ? guestSeq : remoteSeq) + piece[0];
                tcp(turn.guest(), guestPort, remotePort, sequence, ack, TcpSegment.ACK, octets);
            }
            guestSeq += turn.guest() ? turn.octets().length : 0;
            remoteSeq += turn.guest() ? 0 : turn.octets().length;
        }

        void close() {
            tcp(false, guestPort, remotePort, remoteSeq++, guestSeq, TcpSegment.ACK | TcpSegment.FIN, new byte[0]);
            tcp(true, guestPort, remotePort, guestSeq, remoteSeq, TcpSegment.ACK | TcpSegment.FIN, new byte[0]);
            tcp(false, guestPort, remotePort, remoteSeq, guestSeq + 1, TcpSegment.ACK, new byte[0]);
        }
    }

    /// One segment.
    void tcp(boolean fromGuest, int guestPort, int remotePort, int seq, int ack, int flags, byte[] octets) {
        int from = fromGuest ? guestPort : remotePort;
        int to = fromGuest ? remotePort : guestPort;
        var segment = new TcpSegment(from, to, seq, ack, flags, 65_535, 0, octets, 0);
        frame(fromGuest, fromGuest ? segment.packet(GUEST, GATEWAY) : segment.packet(GATEWAY, GUEST));
    }

    /// Where to cut: in order, except for some that come early, come twice or overlap.
    private List<int[]> pieces(int length) {
        var pieces = new ArrayList<int[]>();
        for (int at = 0; at < length; ) {
            int end = Math.min(length, at + 1 + random.nextInt(1_400));
            pieces.add(new int[] {Math.max(0, at - random.nextInt(2) * random.nextInt(50)), end});
            at = end;
        }
        for (int i = pieces.size(); i > 0; i--) {
            if (random.nextInt(4) == 0) {
                pieces.add(random.nextInt(pieces.size() + 1), pieces.get(random.nextInt(pieces.size())));
            }
        }
        for (int i = 0; i + 1 < pieces.size(); i++) {
            if (random.nextInt(3) == 0) {
                Collections.swap(pieces, i, i + 1);
            }
        }
        return pieces;
    }
}
